version = 1
grant "a" {
  host = "https://api.example.com/x"
  credential = anonymous
  allow {
    methods = ["GIT"]
    path = "no-slash"
  }
}
grant "a" {
  host = "*.com"
  credential = anonymous
  allow {
    methods = ["POST"]
    path = "/x/{id}"
    where = { other = int }
  }
  limits { requests = -1 }
}
