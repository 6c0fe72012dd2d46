# Inference at Anthropic's Messages API: messages, their tokens, the models. Files,
# skills, sessions, agents, vaults, tunnels and everything of organisations are other
# paths of the same host and stay out.
#
# A body may hold text, images and documents as base64, and tools that the client runs.
# What has the service fetch from elsewhere stays out: URLs and files as sources, MCP
# servers, web search and fetch, code execution, containers. Betas that only change how
# the model answers pass; a request that names another one, of files, skills, MCP servers,
# web fetch or code execution, is refused. Free bits: all of the text.
# The key goes into x-api-key; newer clients have theirs in Authorization:
#
#   header "x-api-key" {
#     value = "${secret}"
#     also  = "Authorization"
#   }

preset "anthropic" {
  version    = 1
  summary    = "messages and models; no files, skills, sessions, remote tools or URLs as sources"
  credential = required

  argument "url" {
    type     = url
    required = true
    example  = "https://api.example.com"
    about    = "the API, without the /v1 of its paths"
  }

  at = url

  headers = {
    Accept              = one_of("application/json", "text/event-stream", "*/*")
    "Anthropic-Version" = one_of("2023-06-01", "2026-10-21")
    "Anthropic-Beta" = some_of(
      "claude-code-20250219", "computer-use-2024-10-22", "computer-use-2025-01-24", "computer-use-2025-11-24",
      "context-1m-2025-08-07", "dev-full-thinking-2025-05-14", "extended-cache-ttl-2025-04-11",
      "fine-grained-tool-streaming-2025-05-14", "interleaved-thinking-2025-05-14", "max-tokens-3-5-sonnet-2024-07-15",
      "model-context-window-exceeded-2025-08-26", "output-128k-2025-02-19", "output-300k-2026-03-24", "pdfs-2024-09-25",
      "prompt-caching-2024-07-31", "structured-outputs-2025-11-13", "thinking-display-updates-2026-08-18",
      "thinking-token-count-2026-05-13", "token-counting-2024-11-01", "token-efficient-tools-2025-02-19"
    )
    "User-Agent" = "anthropic (scupper)"
  }

  allow {
    methods = ["POST"]
    path    = "/v1/messages"
    query   = { beta = bool }
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("anthropic-messages")
    }
  }
  allow {
    methods = ["POST"]
    path    = "/v1/messages/count_tokens"
    query   = { beta = bool }
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("anthropic-messages")
    }
  }
  allow {
    methods = ["GET"]
    path    = "/v1/models"
    query   = { limit = int, before_id = slug, after_id = slug, beta = bool }
  }
  allow {
    methods = ["GET"]
    path    = "/v1/models/{model}"
    query   = { beta = bool }
  }

  environment = {
    ANTHROPIC_BASE_URL = url
  }
}
