package e2e

import "fmt"

// client is a command for the sandbox. An HTTP client prints the body, a line feed,
// and a last line "STATUS VERSION".
type client struct {
	argv []string
	http bool
}

// command is any program; what it prints has no form.
func command(argv ...string) client { return client{argv: argv} }

// shell is a script for sh.
func shell(script string) client { return command("sh", "-c", script) }

// curl makes one request; the body goes to standard output.
func curl(args ...string) client {
	return client{append([]string{"curl", "-sS", "-m", "20", "-w", "\n%{http_code} %{http_version}"}, args...), true}
}

// nodeFetch makes one GET with Node's own fetch.
func nodeFetch(url string) client {
	return client{[]string{"node", "-e", fmt.Sprintf(
		`fetch(%q).then(async r => console.log(await r.text() + "\n" + r.status + " 1.1"))`, url)}, true}
}

// pythonGet makes one GET with Python's urllib.
func pythonGet(url string) client {
	return python(fmt.Sprintf(`
import urllib.request, urllib.error
try: r = urllib.request.urlopen(%q, timeout=20)
except urllib.error.HTTPError as e: r = e
print(r.read().decode()); print(r.status, "1.1")
`, url), true)
}

// python runs a script; http says that it prints as an HTTP client does.
func python(script string, http bool) client { return client{[]string{"python3", "-c", script}, http} }
