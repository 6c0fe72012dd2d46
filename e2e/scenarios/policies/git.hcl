# Repositories of one owner are read. A push is no operation of this grant, whoever's
# repository it is for.

version = 1

credential "reader" {
  source { env = "GIT_TOKEN" }
  basic { user = "x-access-token" }
}

use "git" {
  reason       = "the agent reads the company's repositories"
  owner        = "dev-tools"
  url          = "https://git.example.com"
  repositories = ["acme/*"]
  credential   = credential.reader

  limits {
    requests = 200
    upload   = "4MiB"
    download = "1GiB"
  }
}
