# A front end is developed: packages are added, so that no lockfile says which ones.
# A name that nobody has published yet carries data to the registry's operator; the
# number of requests and the bytes of request lines are what bounds it.

version = 1

use "npm" {
  reason   = "developers add packages to the front end"
  owner    = "front-end"
  registry = "https://npm.example.com"

  limits {
    requests = 3000
    upload   = "4MiB"
    download = "2GiB"
  }
}
