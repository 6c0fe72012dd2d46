# An agent and its model. The key is the company's: it is written into the one place
# that the API reads, and the agent has a placeholder for it. Files, sessions and skills
# at the same host are not granted, and a body can name nothing that the service would
# fetch from elsewhere.

version = 1

credential "llm" {
  source { env = "LLM_API_KEY" }
  header "x-api-key" {
    value = "${secret}"
    also  = "Authorization"
  }
  expose = "ANTHROPIC_API_KEY"
}

use "anthropic" {
  reason     = "the agent asks its model"
  owner      = "dev-tools"
  url        = "https://llm.example.com"
  credential = credential.llm

  limits {
    requests = 500
    upload   = "64MiB"
    download = "256MiB"
  }
}
