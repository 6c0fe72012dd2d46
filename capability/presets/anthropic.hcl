# Inference at Anthropic's Messages API: messages, their tokens, the models. Files,
# skills, sessions, agents, vaults, tunnels and everything of organisations are other
# paths of the same host and stay out.
#
# A body may hold text, images and documents as base64, and tools that the client runs.
# What has the service fetch from elsewhere stays out: URLs and files as sources, MCP
# servers, web search and fetch, code execution, containers. Free bits: all of the text.
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
    "User-Agent"        = "anthropic (scupper)"
  }

  allow {
    methods = ["POST"]
    path    = "/v1/messages"
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("anthropic-messages")
    }
  }
  allow {
    methods = ["POST"]
    path    = "/v1/messages/count_tokens"
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("anthropic-messages")
    }
  }
  allow {
    methods = ["GET"]
    path    = "/v1/models"
    query   = { limit = int, before_id = slug, after_id = slug }
  }
  allow {
    methods = ["GET"]
    path    = "/v1/models/{model}"
  }

  environment = {
    ANTHROPIC_BASE_URL = url
  }
}
