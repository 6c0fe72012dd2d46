package e2e

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// eightSources are credentials of every source in every place.
func eightSources(w *world) (policy string, secrets []string) {
	var b strings.Builder
	b.WriteString("version = 1\n")
	grants := ""
	places := []string{`header "x-api-key" { value = "${secret}" }`, `header "Authorization" { value = "Bearer ${secret}" }`, `basic { user = "bot" }`, `query "key" {}`, `cookie "session" {}`}
	for i := range 8 {
		secret := fmt.Sprintf("tok%dQvZ/%08d+abcd=WXYZ&<%d>", i, 13572468+i*7919, i)
		secrets = append(secrets, secret)
		name := fmt.Sprintf("c%d", i)
		source := fmt.Sprintf(`env = "SECRET_%d"`, i)
		switch i % 3 {
		case 0:
			w.env = append(w.env, fmt.Sprintf("SECRET_%d=%s", i, secret))
		case 1:
			source = fmt.Sprintf("file = %q", w.user.file(w.t, w.at(name), []byte(secret+"\n")))
		case 2:
			w.user.file(w.t, w.at(name), []byte(secret))
			source = fmt.Sprintf(`exec = ["cat", %q]`, name)
		}
		fmt.Fprintf(&b, "credential %q {\n  source { %s }\n  %s\n  expose = \"HOLD_%d\"\n}\n", name, source, places[i%len(places)], i)
		grants += fmt.Sprintf("grant %q {\n  reason = \"test\"\n  owner = \"test\"\n  host = \"h%d.example.com\"\n  credential = credential.%s\n  allow {\n    methods = [\"GET\"]\n    path = \"/x\"\n  }\n}\n", name, i, name)
	}
	return b.String() + grants, secrets
}

// lookAround prints whatever the sandbox can read of environments, command lines, memory
// maps, mapped files and other files, and uses every credential meanwhile.
const lookAround = `env
for i in 0 1 2 3 4 5 6 7; do curl -sS -D - -w '%{http_code}\n' https://h$i.example.com/x; done
curl -sS -o /dev/null -H 'Authorization: Bearer stolen' https://h1.example.com/x
cat /proc/*/environ /proc/*/cmdline /proc/*/maps /proc/*/comm /proc/*/stat 2>/dev/null | tr '\0' '\n'
awk '{print $6}' /proc/*/maps 2>/dev/null | sort -u | while read -r f; do [ -f "$f" ] && echo "mapped $f" && cat "$f"; done
for d in /tmp /var/tmp /run /home /dev/shm /etc . ..; do find "$d" -xdev -type f -size -2000k -exec cat {} + 2>/dev/null; done`

// spelt is a form in which a secret must be nowhere, and its name.
type spelt struct{ how, text string }

// spellings of secrets, whole and in pieces.
func spelt8(secrets []string) (out []spelt) {
	std, raw := base64.StdEncoding, base64.URLEncoding
	for _, s := range secrets {
		out = append(out, spelt{"raw", s}, spelt{"beginning", s[:10]}, spelt{"end", s[len(s)-10:]}, spelt{"Basic", std.EncodeToString([]byte("bot:" + s))})
		out = append(out, spelt{"hexadecimal", hex.EncodeToString([]byte(s))}, spelt{"capital hexadecimal", strings.ToUpper(hex.EncodeToString([]byte(s)))})
		out = append(out, spelt{"query", url.QueryEscape(s)}, spelt{"path", url.PathEscape(s)}, spelt{"small escapes", strings.ToLower(url.QueryEscape(s))})
		out = append(out, spelt{"JSON", strings.NewReplacer("&", `\u0026`, "<", `\u003c`, ">", `\u003e`).Replace(s)}, spelt{"JSON slash", strings.ReplaceAll(s, "/", `\/`)})
		var escapes, bytes strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&escapes, `\u%04x`, s[i])
			fmt.Fprintf(&bytes, "%d ", s[i])
		}
		out = append(out, spelt{"JSON escapes", escapes.String()}, spelt{"numbers", strings.TrimSpace(bytes.String())})
		for shift := range 3 { // what does not depend on what stands before and behind
			text := []byte(strings.Repeat("-", shift) + s)
			text = text[:len(text)/3*3]
			out = append(out, spelt{fmt.Sprintf("base64 at %d", shift), std.EncodeToString(text)[(shift*4+2)/3:]}, spelt{fmt.Sprintf("base64url at %d", shift), raw.EncodeToString(text)[(shift*4+2)/3:]})
		}
	}
	return out
}

// wantNoSecret looks for every form of every secret in texts, by where they are from.
func wantNoSecret(t *testing.T, secrets []string, texts map[string]string) {
	t.Helper()
	for where, text := range texts {
		for _, form := range spelt8(secrets) {
			if strings.Contains(text, form.text) {
				t.Errorf("%s: %q is in %s", form.how, form.text, where)
			}
		}
	}
}

// TestSecretsStayOutside: CRED-06, CRED-07, CRED-08, CRED-10, CRED-11, of eight credentials
// nothing is inside, in the log, in what scupper prints, or in what the host shows of it.
func TestSecretsStayOutside(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			policy, secrets := eightSources(w)
			w.policy(policy)
			w.flags = []string{"--json"}
			a := w.control(shell(lookAround))
			if got := strings.Count(a.stdout, "\n200\n"); got != 8 || len(a.received) != 8 {
				a.t.Errorf("%d requests arrived, %d were answered: %s", len(a.received), got, a.stderr)
			}
			for i, e := range a.received {
				if all := fmt.Sprint(e); !strings.Contains(all, secrets[i]) && !strings.Contains(all, url.QueryEscape(secrets[i])) && !strings.Contains(all, base64.StdEncoding.EncodeToString([]byte("bot:"+secrets[i]))) {
					t.Errorf("the control: %s arrived without its secret", all)
				}
			}
			texts := map[string]string{"standard output": a.stdout, "standard error": a.stderr, "the audit folder": w.everything("audit"), "the work folder": w.everything("work"), "the state": w.everything("home")}
			for _, argv := range [][]string{
				{"explain", "last", "--audit", w.at("audit/1")}, {"explain", "last", "--json", "--audit", w.at("audit/1")}, {"policy", "check", w.at("policy.hcl")},
				{"policy", "show", "--credentials", w.at("policy.hcl")}, {"policy", "show", "--json", w.at("policy.hcl")}, {"policy", "fmt", w.at("policy.hcl")},
			} {
				b := w.scupper(argv...)
				texts[fmt.Sprint(argv)] = b.stdout + b.stderr
				if b.stdout+b.stderr == "" && argv[1] != "fmt" {
					t.Errorf("%v printed nothing", argv)
				}
			}
			texts["the supervisor"] = w.supervisor()
			wantNoSecret(t, secrets, texts)
			if !strings.Contains(a.stdout, "HOLD_7=") || !strings.Contains(a.stdout, "mapped /") || !strings.Contains(texts["the supervisor"], "scupper\x00run") || !strings.Contains(texts["the audit folder"], `"run_started"`) {
				t.Error("the control: there was nothing to look at")
			}
		})
	}
}

// TestSpellingsAreFound is the control of the tests that find none.
func TestSpellingsAreFound(t *testing.T) {
	const secret = "tok0QvZ/13572468+abcd=WXYZ&<0>"
	for _, text := range []string{
		"x" + secret + "y", base64.StdEncoding.EncodeToString([]byte(secret + "..")), base64.StdEncoding.EncodeToString([]byte("a" + secret + ".")),
		base64.StdEncoding.EncodeToString([]byte("ab" + secret)), base64.URLEncoding.EncodeToString([]byte("abcd" + secret + "..")),
		fmt.Sprintf("%x", "a"+secret), fmt.Sprintf("%X", secret), url.QueryEscape(secret), fmt.Sprint([]byte(secret)) + " ",
	} {
		found := false
		for _, form := range spelt8([]string{secret}) {
			found = found || strings.Contains(text, form.text)
		}
		if !found {
			t.Errorf("nothing was found in %q", text)
		}
	}
}

// TestCrashShowsNoSecret: CRED-07, scupper panics while it writes a secret: once where
// that is caught, once where it ends in a trace of everything. There is no core file.
func TestCrashShowsNoSecret(t *testing.T) {
	scupper := buildBroken(t)
	for _, u := range users(t) {
		for _, c := range []struct{ way, trace string }{{"panic", ""}, {"crash", "credential.spill"}} {
			t.Run(c.way+" "+u.name, func(t *testing.T) {
				w := newWorld(t, u)
				policy, secrets := eightSources(w)
				w.policy(policy)
				w.env = append(w.env, "SCUPPER_BROKEN_CONTROL="+c.way, "GOTRACEBACK=crash")
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				argv, _ := w.runArgs(shell(`for i in 0 1 2 3 4 5 6 7; do curl -sS -m 5 https://h$i.example.com/x; done; grep -h core /proc/self/limits`))
				argv[0] = scupper
				cmd := w.command(ctx, append([]string{"sh", "-c", `ulimit -c unlimited 2>/dev/null; exec "$@"`, "sh"}, argv...), nil)
				var stdout, stderr strings.Builder
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				err := cmd.Run()
				if ctx.Err() != nil || len(w.inet.Received()) != 0 {
					t.Fatalf("%v, %v arrived", err, w.inet.Received())
				}
				if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.CoreDump() {
					t.Error("there is a core file")
				}
				if crashed := strings.Contains(stderr.String(), "goroutine "); crashed != (c.trace != "") || !strings.Contains(stderr.String(), c.trace) {
					t.Errorf("the control: %v\n%s", err, stderr.String())
				}
				texts := map[string]string{"standard output": stdout.String(), "standard error": stderr.String()}
				for _, folder := range []string{"audit", "work", "home"} {
					texts[folder] = w.everything(folder)
				}
				wantNoSecret(t, secrets, texts)
			})
		}
	}
}

// everything is the text of all files in a folder of the world.
func (w *world) everything(folder string) string {
	var b strings.Builder
	err := filepath.WalkDir(w.at(folder), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(text))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// supervisor is what /proc shows of scupper and of what it has started, while a command
// runs.
func (w *world) supervisor() string {
	w.t.Helper()
	argv, _ := w.runArgs(shell("echo ready; sleep 5"))
	cmd := w.command(w.t.Context(), argv, nil)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if _, err := out.Read(make([]byte, 6)); err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	for _, file := range []string{"environ", "cmdline"} {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + file)
		for _, path := range paths {
			if strings.Contains(path, fmt.Sprintf("/%d/", os.Getpid())) {
				continue
			}
			text, _ := os.ReadFile(path)
			b.Write(text)
		}
	}
	return b.String()
}
