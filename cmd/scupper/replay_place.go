package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/replay/scenario"
)

// place is a folder for one scenario: work, outside, audit, state and home are in it.
type place struct{ dir string }

func (p place) at(name string) string { return filepath.Join(p.dir, name) }

// lay makes the folders and the files that a scenario gives.
func (p place) lay(g *scenario.Given) error {
	for _, name := range []string{"work", "outside", "home", "state"} {
		if err := os.MkdirAll(p.at(name), 0o700); err != nil {
			return err
		}
	}
	for _, f := range g.Files {
		path := filepath.Join(p.at("work"), f.Name)
		if f.Outside {
			path = filepath.Join(p.at("outside"), f.Name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := p.write(path, f); err != nil {
			return err
		}
	}
	return nil
}

func (p place) write(path string, f scenario.File) error {
	if f.Link != "" {
		return os.Symlink(p.outside(f.Link), path)
	}
	return os.WriteFile(path, []byte(p.outside(string(f.Content))), os.FileMode(f.Mode))
}

// outside puts the path of the folder beside the workspace into a text.
func (p place) outside(text string) string {
	return attempt.Fill(text, func(name string) string {
		if name == scenario.OutsideVariable {
			return p.at("outside")
		}
		return attempt.Variable(name)
	})
}

// naive are attempts as agents without scupper make them: tools are programs, and do what
// they are told.
func naive(attempts []attempt.Attempt) (out []attempt.Attempt) {
	for _, a := range attempts {
		if a.Tool != nil {
			a = attempt.Attempt{Run: &attempt.Run{Command: program(a.Tool)}, Line: a.Line}
		}
		out = append(out, a)
	}
	return out
}

// program is a command that does what a tool of the name is for.
func program(t *attempt.Tool) []string {
	var args struct {
		Path, Content, Pattern, Command, Old, New string
	}
	json.Unmarshal(t.Arguments, &args) // what has no text stays empty: the command then says so
	switch t.Name {
	case "bash":
		return []string{"sh", "-c", args.Command}
	case "read":
		return []string{"cat", "--", args.Path}
	case "grep":
		return []string{"grep", "-r", "--", args.Pattern, orHere(args.Path)}
	case "glob":
		return []string{"find", orHere(args.Path), "-name", filepath.Base(args.Pattern)}
	case "write", "edit":
		return []string{"sh", "-c", `printf %s "$2" > "$1" && cat -- "$1"`, "sh", args.Path, args.Content + args.New}
	}
	return []string{"false"}
}

func orHere(path string) string {
	if path == "" {
		return "."
	}
	return path
}
