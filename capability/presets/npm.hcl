# What npm, pnpm, yarn and bun ask of a registry during an install. Nothing under /-/,
# no query, no body: publish, login, search, tokens, audit and the rest stay out.

preset "npm" {
  version = 1
  summary = "install packages; no publish, login, search or audit upload"

  argument "registry" {
    type     = url
    required = true
    example  = "https://npm.example.com"
    about    = "the registry, with its path if it has one"
  }
  argument "lockfile" {
    type    = npm_lockfile
    example = "package-lock.json"
    about   = "grant only the packages and versions that this file names"
  }

  at   = registry
  only = lockfile

  headers = {
    Accept = one_of(
      "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*",
      "application/vnd.npm.install-v1+json",
      "application/json; q=1.0, */*",
      "application/json",
      "*/*",
    )
    Range        = regex("bytes=[0-9]{1,12}-[0-9]{0,12}")
    "User-Agent" = "npm (scupper)"
  }

  # The packument. A scoped name is one segment: /@scope%2fname.
  allow {
    methods = ["GET", "HEAD"]
    path    = "/{name}"
    where   = { name = npm_name }
  }
  # The same with a slash that is not encoded, as tools written by hand ask for it.
  allow {
    methods = ["GET", "HEAD"]
    path    = "/@{scope}/{base}"
    where   = { scope = npm_scope, base = npm_base }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/{package}/-/{package}-{version}.tgz"
    where   = { package = npm_base, version = semver }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/@{scope}/{base}/-/{base}-{version}.tgz"
    where   = { scope = npm_scope, base = npm_base, version = semver }
  }
  # yarn encodes the slash of the scope here too.
  allow {
    methods = ["GET", "HEAD"]
    path    = "/@{scope}%2f{base}/-/{base}-{version}.tgz"
    where   = { scope = npm_scope, base = npm_base, version = semver }
  }

  environment = {
    npm_config_registry        = registry
    npm_config_audit           = "false"
    npm_config_fund            = "false"
    npm_config_update_notifier = "false"
    pnpm_config_registry       = registry
    YARN_REGISTRY              = registry
    YARN_NPM_REGISTRY_SERVER   = registry
    YARN_ENABLE_TELEMETRY      = "0"
    BUN_CONFIG_REGISTRY        = registry
    DO_NOT_TRACK               = "1"
  }
}
