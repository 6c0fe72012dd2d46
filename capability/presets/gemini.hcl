# Inference at Google's Gemini API: content, its tokens, the models. Files and uploads,
# cached contents, tuned models, corpora, file search, tokens and live sessions are
# other paths and stay out.
#
# A body may hold text, inline data and functions that the client declares. What has the
# service fetch from elsewhere stays out: file URIs, URL context, search, maps, code
# execution, file search, MCP servers. Free bits: all of the text. The key goes into
# x-goog-api-key; in the query, where it may go too, it would be in logs.

preset "gemini" {
  version    = 1
  summary    = "generate content; no files, search, URL context, code execution or minted tokens"
  credential = required

  argument "url" {
    type     = url
    required = true
    example  = "https://api.example.com"
    about    = "the API, without the /v1beta of its paths"
  }

  at = url

  headers = {
    Accept       = one_of("application/json", "text/event-stream", "*/*")
    "User-Agent" = "gemini (scupper)"
  }

  allow {
    methods = ["POST"]
    path    = "/v1beta/models/{model}:generateContent"
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("gemini-generate")
    }
  }
  allow {
    methods = ["POST"]
    path    = "/v1beta/models/{model}:streamGenerateContent"
    query   = { alt = "sse" }
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("gemini-generate")
    }
  }
  allow {
    methods = ["POST"]
    path    = "/v1beta/models/{model}:countTokens"
    body {
      type   = "application/json"
      max    = "16MiB"
      schema = preset("gemini-generate")
    }
  }
  allow {
    methods = ["GET"]
    path    = "/v1beta/models"
    query   = { pageSize = int, pageToken = slug }
  }
  allow {
    methods = ["GET"]
    path    = "/v1beta/models/{model}"
  }

  environment = {
    GOOGLE_GEMINI_BASE_URL = url
  }
}
