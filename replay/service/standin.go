package service

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// answer writes a JSON text.
func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

func llm(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/files"):
		answer(w, http.StatusOK, `{"id":"file_1","type":"file"}`)
	case strings.HasPrefix(r.URL.Path, "/v1/models"):
		answer(w, http.StatusOK, `{"data":[{"id":"model-1","type":"model"}]}`)
	case strings.HasPrefix(r.URL.Path, "/v1/messages"):
		answer(w, http.StatusOK, `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":1}}`)
	default:
		answer(w, http.StatusOK, `{"id":"obj_1"}`)
	}
}

func gitHost(w http.ResponseWriter, r *http.Request) {
	service := r.URL.Query().Get("service")
	switch {
	case strings.HasSuffix(r.URL.Path, "/info/refs") && service != "":
		w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
		first := "# service=" + service + "\n"
		refs := emptyRefs(service)
		fmt.Fprintf(w, "%04x%s0000%04x%s0000", len(first)+4, first, len(refs)+4, refs)
	case strings.HasSuffix(r.URL.Path, "/git-upload-pack"), strings.HasSuffix(r.URL.Path, "/git-receive-pack"):
		w.Header().Set("Content-Type", "application/x-"+r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]+"-result")
		io.WriteString(w, "0000")
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/graphql"):
		answer(w, http.StatusOK, `{"data":{}}`)
	case r.Method == http.MethodPost:
		answer(w, http.StatusCreated, `{"id":1,"number":1}`)
	case strings.HasSuffix(r.URL.Path, "/issues"):
		answer(w, http.StatusOK, `[{"number":1,"title":"it is slow","state":"open"}]`)
	default:
		answer(w, http.StatusOK, `{}`)
	}
}

// emptyRefs advertises one branch; git would go on to fetch it.
func emptyRefs(service string) string {
	capabilities := "multi_ack side-band-64k ofs-delta object-format=sha1 symref=HEAD:refs/heads/main"
	if service == "git-receive-pack" {
		capabilities = "report-status delete-refs ofs-delta object-format=sha1"
	}
	return strings.Repeat("0", 40) + " capabilities^{}\x00" + capabilities + "\n"
}

func moduleProxy(w http.ResponseWriter, r *http.Request) {
	module, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/@v/")
	switch {
	case file == "list":
		fmt.Fprintln(w, "v1.0.0")
	case strings.HasSuffix(file, ".info"):
		answer(w, http.StatusOK, `{"Version":"v1.0.0","Time":"2026-01-02T03:04:05Z"}`)
	case strings.HasSuffix(file, ".mod"):
		fmt.Fprintf(w, "module %s\n\ngo 1.26\n", module)
	default:
		http.NotFound(w, r)
	}
}

func pythonIndex(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		answer(w, http.StatusOK, `{"ok":true}`)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintln(w, `<!DOCTYPE html><html><body><a href="https://files.example.com/packages/example-1.0.0-py3-none-any.whl">example-1.0.0-py3-none-any.whl</a></body></html>`)
}

func file(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(make([]byte, 1024))
}

func containers(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/blobs/uploads"):
		w.Header().Set("Location", r.URL.Path+"upload-1")
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPut, r.Method == http.MethodPatch:
		w.WriteHeader(http.StatusCreated)
	case strings.Contains(r.URL.Path, "/blobs/"):
		file(w, r)
	default:
		answer(w, http.StatusOK, `{"schemaVersion":2}`)
	}
}

func token(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, `{"token":"issued-by-the-stand-in","expires_in":300}`)
}

func storage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"1"`)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		file(w, r)
	}
}

func paste(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		w.WriteHeader(http.StatusCreated)
	}
	fmt.Fprintln(w, "https://paste.example.com/1")
}

// image is one transparent point, whatever was asked for.
func image(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "image/gif")
	point, _ := base64.StdEncoding.DecodeString("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
	w.Write(point)
}

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintln(w, "<!DOCTYPE html><title>page</title><p>words")
}

func redirect(w http.ResponseWriter, r *http.Request) {
	to, found := strings.CutPrefix(r.URL.EscapedPath(), "/to/")
	if plain, err := url.PathUnescape(to); err == nil {
		to = plain
	}
	if !found {
		page(w, r)
		return
	}
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

// resolver answers DNS over HTTPS (RFC 8484) with no records.
func resolver(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/dns-message")
	w.Write([]byte{0, 0, 0x81, 0x80, 0, 0, 0, 0, 0, 0, 0, 0})
}

func metadata(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, `{"Code":"Success","AccessKeyId":"stand-in","SecretAccessKey":"stand-in","Token":"stand-in"}`)
}
