// memfs extension for pi, written by memfs connect. pi has no command hooks: this asks memfs and adds its answer.
import { spawn } from "node:child_process"

const MEMFS = "memfs"
const MOMENTS = new Set(["start", "prompt", "tool"])
const PATIENCE = 3000 // ms; memfs itself gives up after 2 s

// One call of `memfs hook pi`: the text for the model, or "" whatever goes wrong.
const ask = (name: string, fields: object, cwd: string): Promise<string> =>
  new Promise((resolve) => {
    let said = ""
    const done = (text: string) => { clearTimeout(timer); resolve(text) }
    const timer = setTimeout(() => { child?.kill("SIGKILL"); resolve("") }, PATIENCE)
    let child: any
    try {
      const env = { ...process.env, PYTHONPATH: "" }
      child = spawn(MEMFS, ["hook", "pi"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] })
    } catch { return done("") }
    child.on("error", () => done(""))
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (piece: string) => { said += piece })
    child.on("close", () => {
      try { done(JSON.parse(said).hookSpecificOutput.additionalContext ?? "") } catch { done("") }
    })
    child.stdin.end(JSON.stringify({ hook_event_name: name, cwd, ...fields }))
  })

export default function (pi: any) {
  let source = "begin" // why the brief is due, or "" when the session had it
  pi.on("session_compact", () => { source = "compact" })
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    const session_id = ctx.sessionManager?.getSessionId?.() ?? ""
    const why = source
    source = ""
    const texts = await Promise.all([
      why && MOMENTS.has("start") ? ask("SessionStart", { session_id, source: why }, ctx.cwd) : "",
      MOMENTS.has("prompt") ? ask("UserPromptSubmit", { session_id, prompt: event.prompt }, ctx.cwd) : "",
    ])
    const content = texts.filter(Boolean).join("\n\n")
    if (content) return { message: { customType: "memfs", content, display: false } }
  })
  pi.on("tool_result", async (event: any, ctx: any) => {
    if (!MOMENTS.has("tool")) return
    const session_id = ctx.sessionManager?.getSessionId?.() ?? ""
    const fields = { session_id, tool_name: event.toolName, tool_input: event.input }
    const text = await ask("PostToolUse", fields, ctx.cwd)
    if (text) return { content: [...event.content, { type: "text", text }] }
  })
}
