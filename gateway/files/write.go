package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

const (
	pathSchema   = `{"type":"string","minLength":1,"maxLength":4095,"description":"%s"}`
	digestSchema = `{"type":"string","pattern":"^[0-9a-f]{64}$","description":"SHA-256 in hex that the file must have now, as read answers it; otherwise nothing is done"}`
)

func object(required string, properties ...string) json.RawMessage {
	return json.RawMessage(`{"type":"object","additionalProperties":false,"required":[` + required + `],"properties":{` + strings.Join(properties, ",") + `}}`)
}

func property(name, schema string) string { return `"` + name + `":` + schema }

func pathProperty(about string) string {
	return property("path", fmt.Sprintf(pathSchema, about))
}

func writeDefinition() gateway.Definition {
	return gateway.Definition{
		Name: "write", Version: "1", Title: "Write a file", Level: gateway.ReversibleWrite, Timeout: time.Minute, MaxOutput: 4 << 10,
		Description: "Writes a whole text file in the workspace, as UTF-8, and says whether it was created or replaced. Missing directories are made. " +
			"The file is replaced whole or not at all and keeps its mode. To change a part of a file use edit. Some names (git hooks, CI and agent " +
			"configuration) need a grant of their own.",
		Input: object(`"path","content"`,
			pathProperty("The file, relative to the workspace or absolute inside it"),
			property("content", `{"type":"string","maxLength":16777216,"description":"The whole new text"}`),
			property("must_not_exist", `{"type":"boolean","description":"Do nothing when there is such a file already"}`),
			property("expected_sha256", digestSchema)),
		Output: object(`"path","created","bytes","sha256"`,
			property("path", `{"type":"string"}`), property("created", `{"type":"boolean"}`),
			property("bytes", `{"type":"integer"}`), property("sha256", `{"type":"string"}`)),
	}
}

type writeArguments struct {
	Path     string  `json:"path"`
	Content  string  `json:"content"`
	Fresh    bool    `json:"must_not_exist"`
	Expected *string `json:"expected_sha256"`
}

type written struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
}

func (w *Workspace) write(ctx context.Context, c *gateway.Call) (gateway.Result, error) {
	var a writeArguments
	if err := arguments(c, &a); err != nil {
		return gateway.Result{}, err
	}
	defer w.lock(a.Path)()
	p, err := w.enter(ctx, c, a.Path, a.Expected == nil)
	if err != nil {
		return gateway.Result{}, err
	}
	done, err := w.writeAt(ctx, p, a)
	if err = errors.Join(err, p.close()); err != nil {
		return gateway.Result{}, w.refusal(a.Path, err)
	}
	verb := "replaced"
	if done.Created {
		verb = "created"
	}
	return structured(fmt.Sprintf("%s %s: %d bytes, %d lines\n", verb, show(done.Path), done.Bytes, countLines([]byte(a.Content))), done)
}

func (w *Workspace) writeAt(ctx context.Context, p *place, a writeArguments) (written, error) {
	text := []byte(a.Content)
	done := written{Path: p.rel, Created: p.old == nil, Bytes: len(text), SHA256: digest(text)}
	if p.old != nil && a.Fresh {
		return done, refuse(Conflict, "%s exists already", quote(a.Path))
	}
	if a.Expected != nil {
		if err := p.expect(a.Path, *a.Expected); err != nil {
			return done, err
		}
	}
	if err := ctx.Err(); err != nil {
		return done, refuse(TimedOut, "the call ended before anything was written")
	}
	err := w.replace(p, text, a.Fresh)
	if errors.Is(err, unix.EEXIST) {
		err = refuse(Conflict, "%s was created by somebody else meanwhile", quote(a.Path))
	}
	return done, err
}

// expect says no when the old file is not the one that the caller has seen.
func (p *place) expect(asked, want string) error {
	text, err := p.content(asked, maxWhole)
	if err != nil {
		return err
	}
	if got := digest(text); got != want {
		return refuse(Conflict, "%s has changed: its SHA-256 is %s; read it again", quote(asked), got)
	}
	return nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
