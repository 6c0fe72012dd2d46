# The policy that `scupper demo` runs under, with notes for whoever reviews one.
#
# A policy is a list of grants: this method, on this path, of this host, so much of it,
# until then. There are no deny rules and no order. What no grant covers is refused, and
# a file with a mistake in it grants nothing at all.
#
# `scupper policy check` finds every mistake at once. `scupper policy trust` accepts the
# file, as it is now, for runs in its folder. Lines that begin with "#:" are not in
# force; they show what else can be said.

version = 1

# A preset is a grant that somebody wrote already: what npm, pnpm, yarn and bun ask of a
# registry to install packages. Publish, login, search and audit at the same host are
# not in it; `scupper policy presets show npm` prints every path. The host is always
# named here, where a reviewer sees it.
use "npm" {
  registry = "https://npm.example.com"

  # Only the packages and versions that the lockfile names. A package's name is what an
  # install could smuggle out; with this line it is one of a few hundred known ones.
  #: lockfile = "package-lock.json"

  # A registry with a private address needs its network named. Cloud metadata services
  # stay out of reach whatever stands here.
  #: networks = ["10.0.0.0/8"]

  limits {
    requests = 5000
    download = "2GiB"
  }
}

grant "read-issues" {
  reason  = "the triage bot reads issues and their comments" # why it exists
  owner   = "dev-tools"                                      # who answers for it
  expires = "2030-12-31"                                     # through the last second of that day, UTC

  host = "api.example.com" # https on port 443, unless `scheme` and `port` say otherwise

  # Not even the right host may be asked with somebody else's key: a request that
  # carries a credential is refused.
  credential = anonymous

  # {owner} and {repo} are one segment of the path each. `where` says what they look
  # like: a literal, a named pattern, one_of(...) or regex(...). What goes out is
  # written anew from this template; the client's spelling never does.
  allow {
    methods = ["GET"]
    path    = "/repos/{owner}/{repo}/issues"
    where   = { owner = "acme", repo = slug }

    # Parameters that are not declared are refused, declared ones occur once.
    query = { state = one_of("open", "closed", "all"), page = int, per_page = int }
  }

  allow {
    methods = ["GET"]
    path    = "/repos/acme/{repo}/issues/{number}/comments"
    where   = { number = int }
  }

  # A method that writes has to say what its body is. Without a schema it can carry up
  # to 64 KiB of anything in each request, and `policy check` says so.
  #: allow {
  #:   methods = ["POST"]
  #:   path    = "/repos/acme/{repo}/issues/{number}/comments"
  #:   where   = { number = int }
  #:   body {
  #:     type = "application/json"
  #:     max  = "64KiB"
  #:   }
  #: }

  # How much of it in one run. Request lines and headers count too.
  limits {
    requests = 500
    upload   = "1MiB"
    download = "100MiB"
    rate     = "10/s"
  }
}

# A run with `--role triage` has these grants; a run without a role has all of them.
role "triage" {
  grants = ["read-issues"]
}

# Where names are resolved, and who may sign certificates beside the usual authorities.
#: upstream {
#:   resolver = "203.0.113.53:53"
#:   ca       = "company-ca.pem"
#: }

# Variables that the sandbox has beside the few that every run has.
#: environment = { CI = "1" }
