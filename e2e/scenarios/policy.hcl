# The policy of the scenarios in this folder that name none: an agent that installs
# packages, talks to one LLM API, and reads issues.

version = 1

use "npm" {
  registry = "https://npm.example.com"
}

credential "llm" {
  source { env = "LLM_API_KEY" }
  header "x-api-key" { value = "${secret}" }
  expose = "LLM_API_KEY"
}

grant "llm" {
  reason     = "the agent asks the model"
  owner      = "dev-tools"
  host       = "llm.example.com"
  credential = credential.llm
  allow {
    methods = ["POST"]
    path    = "/v1/messages"
    body {
      type = "application/json"
      max  = "64KiB"
    }
  }
}

grant "issues" {
  reason     = "the agent reads issues"
  owner      = "dev-tools"
  host       = "git.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/repos/acme/{repo}/issues"
    where   = { repo = slug }
    query   = { page = int }
  }
  limits {
    requests = 5
  }
}

tool "bash" {}

role "reader" {
  tools = ["read", "grep"]
}

use "git" {
  url          = "https://git.example.com"
  repositories = ["acme/app"]
}
