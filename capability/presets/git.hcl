# Reading git repositories over HTTP: clone, fetch, ls-remote. A push begins with
# service=git-receive-pack and is refused there; accounts, gists, releases and large
# files at the same host have other paths.
#
# Free bits of the worst request: the body, about 160 for each line that names an
# object, so that its maximum is what bounds them. A fresh clone names only objects that
# the server has advertised. Nobody but the host reads it.

preset "git" {
  version = 1
  summary = "clone and fetch the named repositories; no push"

  argument "url" {
    type     = url
    required = true
    example  = "https://git.example.com"
    about    = "the git server, with the path that all repositories begin with if there is one"
  }
  argument "repositories" {
    type     = git_repositories
    required = true
    example  = "acme/*"
    about    = "the repositories, as their paths are; * stands for one whole part"
  }
  argument "max" {
    type    = size
    example = "1MiB"
    about   = "the largest body of a fetch; 256 KiB are a clone of 5,000 refs"
  }

  at = url

  git {
    repositories = repositories
    operations   = ["fetch"]
    max          = max
  }

  environment = {
    GIT_TERMINAL_PROMPT = "0"
  }
}
