// memfs plugin for opencode, __MARK__. opencode has no command hooks: this asks memfs and adds its answer.
import { spawn } from "node:child_process"

const MEMFS = __SCRIPT__
const MOMENTS = new Set(__MOMENTS__)
const PATIENCE = 3000 // ms; memfs itself gives up after 2 s

// One call of `memfs hook opencode`: the text for the model, or "" whatever goes wrong.
const ask = (name, fields, cwd) =>
  new Promise((resolve) => {
    let said = ""
    const done = (text) => { clearTimeout(timer); resolve(text) }
    const timer = setTimeout(() => { child?.kill("SIGKILL"); resolve("") }, PATIENCE)
    let child
    try {
      child = spawn(MEMFS, ["hook", "opencode"], { cwd, env: { ...process.env, PYTHONPATH: "" }, stdio: ["pipe", "pipe", "ignore"] })
    } catch { return done("") }
    child.on("error", () => done(""))
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (piece) => { said += piece })
    child.on("close", () => {
      try { done(JSON.parse(said).hookSpecificOutput.additionalContext ?? "") } catch { done("") }
    })
    child.stdin.end(JSON.stringify({ hook_event_name: name, cwd, ...fields }))
  })

export const Memfs = async ({ directory }) => {
  const begun = new Map() // session → why its brief is due ("begin", "compact"), or "" when it had one
  let parts = 0
  return {
    "chat.message": async (input, output) => {
      const session_id = input.sessionID
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text).join("\n")
      const source = begun.get(session_id) ?? "begin"
      begun.set(session_id, "")
      const texts = await Promise.all([
        source && MOMENTS.has("start") ? ask("SessionStart", { session_id, source }, directory) : "",
        MOMENTS.has("prompt") ? ask("UserPromptSubmit", { session_id, prompt }, directory) : "",
      ])
      const text = texts.filter(Boolean).join("\n\n")
      if (!text) return
      output.parts.push({
        id: `prt_memfs${Date.now()}${parts++}`, sessionID: output.message.sessionID, messageID: output.message.id,
        type: "text", text, synthetic: true,
      })
    },
    "tool.execute.after": async (input, output) => {
      if (!MOMENTS.has("tool") || typeof output.output !== "string") return
      const fields = { session_id: input.sessionID, tool_name: input.tool, tool_input: input.args }
      const text = await ask("PostToolUse", fields, directory)
      if (text) output.output += "\n\n" + text
    },
    event: async ({ event }) => {
      if (event.type === "session.compacted") begun.set(event.properties.sessionID, "compact")
    },
  }
}
