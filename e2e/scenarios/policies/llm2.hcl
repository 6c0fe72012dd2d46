# The same with an API of the other kind, where a request can ask the service to keep
# what it was sent.

version = 1

credential "llm" {
  source { env = "OPENAI_KEY" }
  header "Authorization" { value = "Bearer ${secret}" }
  expose = "OPENAI_API_KEY"
}

use "openai" {
  reason     = "the agent asks its model"
  owner      = "dev-tools"
  url        = "https://llm2.example.com/v1"
  credential = credential.llm

  limits {
    requests = 500
    upload   = "64MiB"
    download = "256MiB"
  }
}
