# The same project in CI: the lockfile lies beside this policy, and only what it names
# can be asked for.

version = 1

use "npm" {
  reason   = "CI installs what the lockfile names"
  owner    = "front-end"
  registry = "https://npm.example.com"
  lockfile = "package-lock.json"

  limits {
    requests = 500
    download = "500MiB"
  }
}
