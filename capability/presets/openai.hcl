# Inference at OpenAI's API and what speaks like it: chat, responses, embeddings, the
# models. Files, uploads, batches, vector stores, containers, conversations, tuning,
# realtime secrets and everything of organisations are other paths and stay out.
#
# A body may hold text, images as data: URLs, and functions that the client runs. What
# has the service fetch from elsewhere or keep something stays out: image and file URLs,
# MCP servers, web search, code interpreter, file search, stored responses; a response
# has to say store = false. Free bits: all of the text. The key goes into Authorization,
# as "Bearer ${secret}".

preset "openai" {
  version    = 1
  summary    = "chat, responses and embeddings; no files, stored responses, remote tools or URLs as sources"
  credential = required

  argument "url" {
    type     = url
    required = true
    example  = "https://api.example.com/v1"
    about    = "the API, with the /v1 of its paths"
  }

  at = url

  headers = {
    Accept       = one_of("application/json", "text/event-stream", "*/*")
    "User-Agent" = "openai (scupper)"
  }

  allow {
    methods = ["POST"]
    path    = "/chat/completions"
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("openai-chat")
    }
  }
  allow {
    methods = ["POST"]
    path    = "/responses"
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("openai-responses")
    }
  }
  allow {
    methods = ["POST"]
    path    = "/embeddings"
    body {
      type   = "application/json"
      max    = "4MiB"
      schema = preset("openai-embeddings")
    }
  }
  allow {
    methods = ["GET"]
    path    = "/models"
  }
  allow {
    methods = ["GET"]
    path    = "/models/{model}"
  }

  environment = {
    OPENAI_BASE_URL = url
  }
}
