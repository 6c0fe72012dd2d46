package audit

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Head says what a log was at one time: how many records it had, and the hash over
// them. Signed, it is a checkpoint of transparency logs (C2SP tlog-checkpoint), which
// other tools read too.
type Head struct {
	Log  string // the key's name and the run, with a slash between them
	Size int64  // records
	Root [tlog.HashSize]byte
}

var errNoHead = errors.New("this is no head of a log")

// Run is the run whose log it is.
func (h Head) Run() string {
	_, run, _ := strings.Cut(h.Log, "/")
	return run
}

// String is the head in one word, as summaries print it and ParseHead reads it.
func (h Head) String() string {
	return h.Run() + ":" + strconv.FormatInt(h.Size, 10) + ":" + base64.StdEncoding.EncodeToString(h.Root[:])
}

// ParseHead reads what String wrote. Such a head is not signed: it is as good as the
// place that it was kept in.
func ParseHead(s string) (Head, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 || !isRun(parts[0]) {
		return Head{}, fmt.Errorf("%s: %w; it looks like RUN:SIZE:HASH", Printable(capped(s, maxName)), errNoHead)
	}
	return parseHead("/"+parts[0], parts[1], parts[2])
}

// ReadHeads reads heads that someone kept: a file with signed ones, as anchors and logs
// have them, whose signatures must be by one of the keys; or the word that String wrote.
// Every head counts: an older one at the end takes nothing away from those before it.
func ReadHeads(text string, keys []string) ([]Head, error) {
	content, err := os.ReadFile(text)
	if err != nil {
		h, err := ParseHead(text)
		return []Head{h}, err
	}
	known, err := verifiers(keys)
	if err != nil {
		return nil, err
	}
	var heads []Head
	parts := strings.Split(strings.TrimRight(string(content), "\n"), "\n\n")
	for ; len(parts) >= 2; parts = parts[2:] {
		h, err := openHead([]byte(parts[0]+"\n\n"+parts[1]+"\n"), known)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Printable(text), err)
		}
		heads = append(heads, h)
	}
	if len(heads) == 0 || len(parts) > 0 {
		return nil, fmt.Errorf("%s: %w", Printable(text), errNoHead)
	}
	return heads, nil
}

func parseHead(log, size, root string) (Head, error) {
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 || size != strconv.FormatInt(n, 10) {
		return Head{}, fmt.Errorf("size %s: %w", Printable(capped(size, maxName)), errNoHead)
	}
	hash, err := tlog.ParseHash(root)
	if err != nil {
		return Head{}, fmt.Errorf("hash %s: %w", Printable(capped(root, maxName)), errNoHead)
	}
	return Head{Log: log, Size: n, Root: hash}, nil
}

func (h Head) text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", h.Log, h.Size, base64.StdEncoding.EncodeToString(h.Root[:]))
}

// openHead reads a signed head; its signature must be by one of the keys.
func openHead(signed []byte, keys note.Verifiers) (Head, error) {
	n, err := note.Open(signed, keys)
	if err != nil {
		return Head{}, foreignSignature(err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) < 4 {
		return Head{}, errNoHead
	}
	h, err := parseHead(lines[0], lines[1], lines[2])
	if err != nil {
		return Head{}, err
	}
	// A key signs heads in its own name only.
	if name, run, _ := strings.Cut(h.Log, "/"); name != n.Sigs[0].Name || !isRun(run) {
		return Head{}, fmt.Errorf("%s: %w", Printable(capped(h.Log, maxName)), errNoHead)
	}
	return h, nil
}

// foreignSignature says of a note that does not open whose signature it has.
func foreignSignature(err error) error {
	var unverified *note.UnverifiedNoteError
	if errors.As(err, &unverified) && len(unverified.Note.UnverifiedSigs) > 0 {
		return fmt.Errorf("it is signed by another key, %s", Printable(capped(unverified.Note.UnverifiedSigs[0].Name, maxName)))
	}
	var invalid *note.InvalidSignatureError
	if errors.As(err, &invalid) {
		return errors.New("its signature is wrong")
	}
	return errNoHead
}
