"""Credentials that their makers gave a recognisable form (ADMISSION 2). Data, written from the makers' documentation.

Each row: name of the rule, whose credential it is, words one of which occurs in every match (lower
case), and the pattern. ``fixed``: nobody can allow one, since the form leaves no doubt.
"""

from __future__ import annotations

ROWS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    # Clouds
    (
        "aws-access-key",
        "an AWS access key id",
        ("akia", "asia", "abia", "acca"),
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    ),
    (
        "aws-bedrock-key",
        "an Amazon Bedrock API key",
        ("absk", "bedrock-api-key-"),
        r"(?:ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/_-]{40,}={0,2})",
    ),
    ("google-api-key", "a Google API key", ("aiza",), r"AIza[A-Za-z0-9_-]{35}"),
    ("google-oauth-secret", "a Google OAuth client secret", ("gocspx-",), r"GOCSPX-[A-Za-z0-9_-]{28}"),
    (
        "google-oauth-token",
        "a Google OAuth token",
        ("ya29.", "1//0"),
        r"(?:ya29\.[A-Za-z0-9_-]{30,}|1//0[A-Za-z0-9_-]{40,})",
    ),
    (
        "azure-client-secret",
        "a Microsoft Entra client secret",
        ("q~",),
        r"[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}",
    ),
    (
        "azure-storage-key",
        "an Azure storage or service key",
        ("accountkey=", "sharedaccesskey="),
        r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,86}={1,2}",
    ),
    ("azure-devops-token", "an Azure DevOps access token", ("azdo",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    (
        "azure-resource-key",
        "an Azure resource key",
        ("jqqj9", "acdb", "+astt", "+azse", "azca", "azfu", "+acr"),
        (
            r"(?:[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{26}|[A-Za-z0-9+/]{75}(?:ACDb|\+ASt|AIoT)"
            r"[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9]{42}(?:AzSe|AzCa|\+ACR)[A-Za-z0-9]{4,10}|"
            r"[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==)"
        ),
    ),
    ("alibaba-access-key", "an Alibaba Cloud access key id", ("ltai",), r"LTAI[A-Za-z0-9]{12,20}"),
    ("tencent-secret-id", "a Tencent Cloud secret id", ("akid",), r"AKID[A-Za-z0-9]{32}"),
    ("yandex-api-key", "a Yandex Cloud key", ("aqvn", "yc"), r"(?:AQVN[A-Za-z0-9_-]{35,38}|YC[A-Za-z0-9_-]{38})"),
    ("digitalocean-token", "a DigitalOcean token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{64}"),
    (
        "heroku-key",
        "a Heroku API key",
        ("hrku-",),
        r"HRKU-(?:AA[A-Za-z0-9_-]{58}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})",
    ),
    ("fly-token", "a Fly.io token", ("fm1", "fm2_", "fo1_"), r"(?:fm1[ar]_|fm2_|fo1_)[A-Za-z0-9+/_-]{40,}={0,3}"),
    ("netlify-token", "a Netlify token", ("nfp_",), r"nfp_[A-Za-z0-9]{36}"),
    ("vercel-token", "a Vercel token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), r"vc[piark]_[A-Za-z0-9]{24,64}"),
    ("scaleway-key", "a Scaleway access key", ("scw",), r"SCW[A-Z0-9]{17}"),
    ("cloudflare-origin-ca", "a Cloudflare Origin CA key", ("v1.0-",), r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    ("cloudflare-token", "a Cloudflare API token", ("cfut_", "cfat_", "cfk_"), r"(?:cfut|cfat|cfk)_[A-Za-z0-9]{40,48}"),
    # Source code, packages, builds
    (
        "github-token",
        "a GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"gh[pousr]_[A-Za-z0-9]{36}(?:[A-Za-z0-9]{40})?",
    ),
    (
        "github-app-token",
        "a GitHub App token",
        ("ghs_",),
        r"ghs_(?:[0-9]{1,12}_)?eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    (
        "github-fine-grained-token",
        "a GitHub fine-grained token",
        ("github_pat_",),
        r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    ),
    (
        "gitlab-token",
        "a GitLab token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glffct-",
            "glwt-",
        ),
        (
            r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct"
            r"|wt)-(?:t\d_)?[A-Za-z0-9_-]{20,64}(?:\.[0-9a-z]{2}\.[0-9a-z]{2}[A-Za-z0-9]{7})?"
        ),
    ),
    (
        "bitbucket-token",
        "an Atlassian or Bitbucket token",
        ("atatt3", "atctt3", "atbb", "atstt"),
        r"(?:AT[ACS]TT3[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9]{32})",
    ),
    ("npm-token", "an npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    ("pypi-token", "a PyPI token", ("pypi-age",), r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("rubygems-token", "a RubyGems key", ("rubygems_",), r"rubygems_[a-f0-9]{48}"),
    ("crates-token", "a crates.io token", ("cio",), r"cio[A-Za-z0-9]{32}"),
    ("nuget-key", "a NuGet key", ("oy2",), r"oy2[a-z0-9]{43}"),
    ("clojars-token", "a Clojars token", ("clojars_",), r"(?i:CLOJARS_)[a-z0-9]{60}"),
    ("docker-token", "a Docker Hub token", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{27,64}"),
    (
        "artifactory-key",
        "a JFrog Artifactory key",
        ("akcp", "cmvmdgtuoj"),
        r"(?:AKCp[A-Za-z0-9]{68,}|cmVmdGtuOj[A-Za-z0-9]{54,})",
    ),
    ("circleci-token", "a CircleCI token", ("ccipat_", "cciprj_"), r"CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}"),
    ("buildkite-token", "a Buildkite token", ("bkua_", "bkct_", "bkaj_"), r"bk(?:ua|ct|aj)_[A-Za-z0-9_-]{40,}"),
    ("sonar-token", "a SonarQube token", ("squ_", "sqp_", "sqa_"), r"sq[upa]_[a-f0-9]{40}"),
    (
        "snyk-token",
        "a Snyk token",
        ("snyk_",),
        r"snyk_(?:uat|sat)\.[0-9a-f]{8}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
    ),
    ("pulumi-token", "a Pulumi token", ("pul-",), r"pul-[a-f0-9]{40}"),
    ("terraform-token", "an HCP Terraform token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,70}"),
    ("vault-token", "a Vault token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    (
        "doppler-token",
        "a Doppler token",
        ("dp.",),
        r"dp\.(?:pt|st|ct|sa|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    ("onepassword-token", "a 1Password service account token", ("ops_ey",), r"ops_eyJ[A-Za-z0-9_-]{100,}={0,3}"),
    (
        "onepassword-secret-key",
        "a 1Password secret key",
        ("a3-",),
        r"A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}(?:-[A-Z0-9]{5})?",
    ),
    ("age-key", "an age secret key", ("age-secret-key-",), r"(?i:AGE-SECRET-KEY-(?:PQ-)?1)[A-Za-z0-9]{58,}"),
    ("openshift-token", "an OpenShift token", ("sha256~",), r"sha256~[A-Za-z0-9_-]{43}"),
    ("databricks-token", "a Databricks token", ("dapi", "dose"), r"(?:dapi|dose)[a-f0-9]{32}(?:-[0-9])?"),
    ("planetscale-token", "a PlanetScale credential", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}"),
    (
        "supabase-token",
        "a Supabase key",
        ("sbp_", "sb_secret_"),
        r"(?:sbp_(?:v0_)?[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{30,})",
    ),
    ("neon-key", "a Neon API key", ("napi_",), r"napi_[a-z0-9]{64}"),
    (
        "tailscale-key",
        "a Tailscale key",
        ("tskey-",),
        r"tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,}(?:CNTRL)?-[A-Za-z0-9]{20,}",
    ),
    ("postman-key", "a Postman key", ("pmak-",), r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    # Models
    (
        "openai-key",
        "an OpenAI key",
        ("t3blbkfj",),
        (r"sk-(?:(?:proj|svcacct|admin|service)-)?[A-Za-z0-9_-]{20,100}" r"T3BlbkFJ[A-Za-z0-9_-]{20,100}"),
    ),
    (
        "openai-project-key",
        "an OpenAI project key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-"),
        r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,200}",
    ),
    ("anthropic-key", "an Anthropic key", ("sk-ant-",), r"sk-ant-[a-z]{2,6}\d{2}-[A-Za-z0-9_-]{60,120}"),
    ("openrouter-key", "an OpenRouter key", ("sk-or-",), r"sk-or-v1-[a-f0-9]{64}"),
    ("sk-key", "a secret key of a model service", ("sk-",), r"sk-(?:[a-f0-9]{32}|[A-Za-z0-9]{48})"),
    ("langfuse-key", "a Langfuse key", ("sk-lf-",), r"sk-lf-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    ("huggingface-token", "a Hugging Face token", ("hf_", "api_org_"), r"(?:hf_|api_org_)[A-Za-z]{1}[A-Za-z0-9]{33}"),
    ("replicate-token", "a Replicate token", ("r8_",), r"r8_[A-Za-z0-9]{37}"),
    ("groq-key", "a Groq key", ("gsk_",), r"gsk_[A-Za-z0-9]{52}"),
    ("xai-key", "an xAI key", ("xai-",), r"xai-[A-Za-z0-9]{80}"),
    ("perplexity-key", "a Perplexity key", ("pplx-",), r"pplx-[A-Za-z0-9]{48}"),
    ("nvidia-key", "an NVIDIA key", ("nvapi-",), r"nvapi-[A-Za-z0-9_-]{60,70}"),
    ("langsmith-key", "a LangSmith key", ("lsv2_",), r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("pinecone-key", "a Pinecone key", ("pcsk_",), r"pcsk_[A-Za-z0-9]{5,7}_[A-Za-z0-9]{50,70}"),
    ("jina-key", "a Jina key", ("jina_",), r"jina_[A-Za-z0-9]{32}[A-Za-z0-9_-]{28}"),
    ("tavily-key", "a Tavily key", ("tvly-",), r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}"),
    ("elevenlabs-key", "an ElevenLabs key", ("sk_",), r"sk_[a-f0-9]{48}"),
    ("firecrawl-key", "a Firecrawl key", ("fc-",), r"fc-[a-f0-9]{32}"),
    ("wandb-key", "a Weights & Biases key", ("wandb_v1_",), r"wandb_v1_[A-Za-z0-9_]{60,90}"),
    # Messages and mail
    (
        "slack-token",
        "a Slack token",
        ("xox", "xapp-"),
        (
            r"(?:xox[abcdposre](?:\.xox[bp])?-(?:\d+-)?[A-Za-z0-9-]{20,250}|xapp-\d-[A-Z0-9]{8,12}"
            r"-\d{8,15}-[a-f0-9]{64})"
        ),
    ),
    (
        "slack-webhook",
        "a Slack webhook",
        ("hooks.slack.com",),
        (
            r"hooks\.slack\.com/(?:services|workflows|triggers)/T?[A-Z0-9]{8,12}/[A-Za-z0-9]{8,20}"
            r"/[A-Za-z0-9/]{20,60}"
        ),
    ),
    (
        "teams-webhook",
        "a Microsoft Teams webhook",
        ("webhook.office.com", "/incomingwebhook/"),
        (
            r"(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/[0-9a-f-]{36}"
            r"@[0-9a-f-]{36}/IncomingWebhook/[0-9a-fA-F]{32}/[0-9a-f-]{36}"
        ),
    ),
    (
        "discord-token",
        "a Discord bot token",
        (".",),
        r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    ),
    (
        "discord-webhook",
        "a Discord webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,80}",
    ),
    ("telegram-token", "a Telegram bot token", (":aa",), r"\d{8,10}:AA[A-Za-z0-9_-]{32,33}"),
    ("sendgrid-key", "a SendGrid key", ("sg.",), r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("mailgun-key", "a Mailgun key", ("key-",), r"key-[a-f0-9]{32}"),
    ("mailchimp-key", "a Mailchimp key", ("-us",), r"[a-f0-9]{32}-us\d{1,2}"),
    ("brevo-key", "a Brevo key", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", "a Resend key", ("re_",), r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("twilio-key", "a Twilio key", ("sk",), r"SK[a-f0-9]{32}"),
    # Payment and shops
    (
        "stripe-key",
        "a Stripe secret key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_"),
        r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,247}",
    ),
    ("stripe-webhook-secret", "a webhook signing secret", ("whsec_",), r"whsec_[A-Za-z0-9+/]{24,64}={0,2}"),
    (
        "square-token",
        "a Square token",
        ("sq0", "eaaa"),
        r"(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{60})",
    ),
    (
        "shopify-token",
        "a Shopify token",
        ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_"),
        r"shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}",
    ),
    (
        "plaid-token",
        "a Plaid access token",
        ("access-",),
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
    ),
    (
        "paypal-token",
        "a PayPal access token",
        ("access_token$",),
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    ("flutterwave-key", "a Flutterwave secret key", ("flwseck",), r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{32}-X"),
    ("duffel-token", "a Duffel token", ("duffel_",), r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}"),
    ("easypost-key", "an EasyPost key", ("ezak", "eztk"), r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("shippo-token", "a Shippo token", ("shippo_",), r"shippo_(?:live|test)_[a-f0-9]{40}"),
    # Work tools, observation
    (
        "grafana-token",
        "a Grafana token",
        ("glsa_", "glc_"),
        r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,3})",
    ),
    (
        "newrelic-key",
        "a New Relic key",
        ("nrak-", "nrii-", "nrra-", "nraa-", "nrbr-", "nral"),
        (r"(?:NR(?:AK|AA|RA)-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}|NRBR-[a-f0-9]{24}|[a-f0-9]{36}" r"NRAL)"),
    ),
    ("datadog-pat", "a Datadog token", ("ddpat_", "ddapp_"), r"dd(?:pat|app)_[A-Za-z0-9]{30,}"),
    ("dynatrace-token", "a Dynatrace token", ("dt0",), r"dt0[a-z]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    (
        "sentry-token",
        "a Sentry token",
        ("sntrys_", "sntryu_"),
        r"(?:sntryu_[a-f0-9]{64}|sntrys_eyJ[A-Za-z0-9+/=]{40,}_?[A-Za-z0-9+/]{20,})",
    ),
    ("posthog-key", "a PostHog personal key", ("phx_", "phs_"), r"ph[xs]_[A-Za-z0-9_]{40,60}"),
    (
        "honeycomb-key",
        "a Honeycomb key",
        ("hcaik_", "hcaic_", "hcamk_", "hcbik_"),
        r"hc[ab][im][kc]_[a-z0-9]{26}[A-Za-z0-9]{30,40}",
    ),
    (
        "launchdarkly-key",
        "a LaunchDarkly key",
        ("sdk-", "api-"),
        r"(?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    ),
    ("linear-key", "a Linear key", ("lin_api_", "lin_oauth_", "lin_wh_"), r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,64}"),
    ("figma-token", "a Figma token", ("figd_", "figo_", "figu_", "figoh_"), r"fig[dou]h?_[A-Za-z0-9_-]{38,50}"),
    ("notion-token", "a Notion token", ("ntn_", "secret_"), r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})"),
    ("airtable-token", "an Airtable token", ("pat",), r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("asana-token", "an Asana token", ("/",), r"[12]/\d{13,17}(?:/\d{13,17})?:[a-f0-9]{32}"),
    (
        "hubspot-token",
        "a HubSpot token",
        ("pat-",),
        r"pat-(?:na|eu|ap)\d-[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    ),
    ("contentful-token", "a Contentful token", ("cfpat-",), r"CFPAT-[A-Za-z0-9_-]{43}"),
    ("dropbox-token", "a Dropbox token", ("sl.",), r"sl\.(?:u\.)?[A-Za-z0-9_-]{130,}"),
    ("typeform-token", "a Typeform token", ("tfp_",), r"tfp_[A-Za-z0-9_.=-]{40,60}"),
    ("readme-key", "a ReadMe key", ("rdme_",), r"rdme_[a-z0-9]{60,80}"),
    ("mapbox-secret", "a Mapbox secret token", ("sk.eyj",), r"sk\.eyJ[A-Za-z0-9_-]{60,90}\.[A-Za-z0-9_-]{20,}"),
    ("maxmind-key", "a MaxMind licence key", ("_mmk",), r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    ("adobe-secret", "an Adobe client secret", ("p8e-", "p8-"), r"p8e?-[A-Za-z0-9_-]{32}"),
    ("facebook-token", "a Meta access token", ("eaa",), r"EAA[A-Za-z0-9]{80,250}"),
    ("atlas-service-secret", "a MongoDB Atlas service account secret", ("mdb_sa_sk_",), r"mdb_sa_sk_[A-Za-z0-9_-]{40}"),
    ("inngest-key", "an Inngest signing key", ("signkey-",), r"signkey-(?:prod|test|branch)-[a-f0-9]{32,64}"),
    ("prefect-key", "a Prefect key", ("pnu_", "pnb_"), r"pn[ub]_[A-Za-z0-9]{36}"),
    ("pagerduty-key", "a PagerDuty key", ("pdus+", "pdeu+"), r"pd(?:us|eu)\+_[A-Za-z0-9_-]{20,40}"),
    (
        "ngrok-token",
        "an ngrok credential",
        ("ngrok_", "_"),
        r"(?:ngrok_[A-Za-z0-9]{20,40}_[A-Za-z0-9]{20,30}|2[A-Za-z0-9]{26}_[A-Za-z0-9]{20,22})",
    ),
    (
        "zapier-webhook",
        "a webhook address that anybody can post to",
        ("hooks.zapier.com", "hook.eu", "hook.us", "maker.ifttt.com"),
        (
            r"(?:hooks\.zapier\.com/hooks/catch/\d+/[A-Za-z0-9]{6,}|hook\.(?:eu|us)"
            r"\d\.make\.com/[a-z0-9]{24,}|maker\.ifttt\.com/[a-z/{}_]*/with/key/[A-Za-z0-9_-]{20,})"
        ),
    ),
)

BEGINNINGS = (
    r"AKIA|ASIA|ABIA|ACCA|AIza|GOCSPX-|ya29\.|gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt)-|npm_|pypi-|"
    r"dckr_|dop_v1_|hvs\.|dp\.|"
    r"sk-|sk_|rk_|gsk_|xai-|hf_|r8_|xox[abcdeoprs]-|xapp-|SG\.|glsa_|NRAK-|shp(?:at|ca|pa|ss)_|lin_api_|"
    r"figd_|ntn_|dapi|tskey-|AGE-SECRET-KEY-|"
    r"LTAI|AKID|rubygems_|PMAK-|sbp_|pul-|ATATT3|\d{8,10}:AA"
)
"""The beginnings from which a token that was broken into pieces is put together again."""
