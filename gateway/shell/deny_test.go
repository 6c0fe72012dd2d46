package shell

import (
	"strings"
	"testing"
)

func TestDenyCommands(t *testing.T) {
	list, err := newDenyList([]string{"sudo", "git push", "rm -rf", "curl"})
	if err != nil {
		t.Fatal(err)
	}
	denied := []string{
		"sudo id", "/usr/bin/sudo id", "./../bin/sudo", "s''udo id", `"su"do id`, `\sudo id`, `s\udo`, "$'sudo'", `$'\x73udo' id`, `$'\163udo'`,
		"cd /tmp && sudo id", "true; sudo id", "true | sudo tee x", "true || sudo x", "sudo x &", "(sudo id)", "{ sudo id; }", "! sudo id",
		"if true; then sudo id; fi", "for i in 1 2; do sudo id; done", "while sudo id; do :; done", "case x in x) sudo id;; esac",
		"f() { sudo id; }; f", "echo $(sudo id)", "echo `sudo id`", "cat <(sudo id)", `echo "$(sudo id)"`, "x=$(sudo id)", "cat <<EOF\n$(sudo id)\nEOF\n",
		"env sudo id", "env -u X A=1 sudo id", "env -S 'sudo id'", "/usr/bin/env -- sudo", "A=1 sudo id", "nohup sudo id", "exec sudo id", "command sudo id", "time sudo id",
		"echo x | xargs sudo", "xargs -n 1 -P4 sudo < x", "timeout 5 sudo id", "timeout -k 1 5 sudo id", "nice -n 5 sudo id", "setsid nohup env sudo id",
		"find . -exec sudo rm {} +", "bash -c 'sudo id'", "sh -c \"cd / && sudo id\"", "bash -lc 'bash -c \"sudo id\"'", "eval 'sudo id'", `eval "su""do id"`,
		"s=sudo; $s id", "s=/usr/bin/sudo; \"$s\" id", "s='sudo id'; $s", "a=su; b=do; $a$b id", "echo a\nsudo id\n", "sudo id; )",
		"git push", "git push origin main", "git -C x push", "git --no-pager -c a=b push", "/usr/bin/git push", "bash -c 'git push'", "nice git push",
		"rm -rf x", "rm x -rf", "curl http://example.com", "sudo -u root -- git push",
	}
	for _, script := range denied {
		if advice := list.advice(script); advice == "" {
			t.Errorf("TOOL-12 not found: %s", script)
		}
	}
	passed := []string{
		"echo sudo", "grep -r sudo .", "cat sudo", "echo 'sudo id'", "# sudo id", "xargs grep sudo", "env X=sudo true", "ls /etc/sudoers.d", "sudoku", "pseudo",
		"git log push", "git commit -m push", "git stash push", "git pull", "rm -r x", "rm x", "curly", "echo $sudo", "cat <<'EOF'\n$(sudo id)\nEOF\n", "printf '%s' \"sudo\"",
		"find . -name sudo", "timeout 5 echo sudo", "sudo=1", "", "   ", ")", "if", "x=sudo",
	}
	for _, script := range passed {
		if advice := list.advice(script); advice != "" {
			t.Errorf("found in %s: %s", script, advice)
		}
	}
}

// TestDenyIsAdvice shows what the list does not find, which is why it is no boundary. The
// sandbox has the same answer for these as for the plain words: TestDenyListIsNotTheBoundary.
func TestDenyIsAdvice(t *testing.T) {
	list, err := newDenyList([]string{"sudo"})
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range evasions() {
		if advice := list.advice(script); advice != "" {
			t.Errorf("found in %s: %s", script, advice)
		}
	}
}

// evasions run sudo, if there is one, in ways that no list of words finds.
func evasions() []string {
	return []string{
		"$(printf 'su%s' do) -n id",
		"printf 'su%s -n id' do | sh",
		"cp /usr/bin/su?o /tmp/x; /tmp/x -n id",
		"python3 -c \"import os; os.system('su'+'do -n id')\"",
		"sort --compress-program=/tmp/x /dev/null; ${x:-su}${y:-do} -n id",
	}
}

func TestDenyListNamesCommands(t *testing.T) {
	if _, err := newDenyList([]string{"sudo", " "}); err == nil {
		t.Error("an empty entry")
	}
}

// TestDeepScripts must not exhaust the stack.
func TestDeepScripts(t *testing.T) {
	list := denyList{{"sudo"}}
	for _, piece := range []string{"(", "$(", "{ ", "`", "((", "${x:-", "if ", "while ", "! ", "case x in x) ", "bash -c '", "eval ", "\"$(", "f() ", "[[ ( ", "$((", "a=(", "<(", "time ", "for i in x; do "} {
		list.advice(strings.Repeat(piece, longest/len(piece)))
	}
}

func FuzzDeny(f *testing.F) {
	f.Add("cd x && s''udo $(id)")
	f.Add("bash -c \"eval 'sudo id'\"")
	list := denyList{{"sudo"}, {"git", "push"}}
	f.Fuzz(func(t *testing.T, script string) {
		first := list.advice(script)
		if again := list.advice(script); again != first {
			t.Errorf("%q and then %q", first, again)
		}
		// A command in front of it does not hide what follows.
		if first != "" && list.advice("true\n"+script) == "" {
			t.Errorf("hidden by a line in front: %q", script)
		}
	})
}
