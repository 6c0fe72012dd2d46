// Command scupper-verify checks logs of scupper with a public key alone. It is small
// enough to be read before it is trusted, and shares nothing with the program that
// writes logs but the published format of trees and signed notes.
//
//	scupper-verify proof.txt --key PUB     # what `scupper audit prove` wrote
//	scupper-verify RUNDIR --key PUB        # the folder of a run, against the head in it
//	scupper-verify RUNDIR HEAD --key PUB   # against a head that was kept elsewhere
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	args := os.Args[1:]
	if len(args) < 3 || len(args) > 4 || args[len(args)-2] != "--key" {
		fmt.Fprintln(os.Stderr, "usage: scupper-verify PROOF|RUNDIR [HEAD] --key PUB")
		os.Exit(2)
	}
	says, err := verify(args[:len(args)-2], args[len(args)-1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "scupper-verify: %q does not hold: %v\n", args[0], err)
		os.Exit(1)
	}
	fmt.Println(says)
}

func verify(names []string, key string) (string, error) {
	if text, err := os.ReadFile(key); err == nil {
		key, _, _ = strings.Cut(string(text), "\n") // the newest
	}
	v, err := note.NewVerifier(key)
	if err != nil {
		return "", fmt.Errorf("key: %w", err)
	}
	if text, err := os.ReadFile(names[0]); err == nil {
		return proof(text, v)
	}
	return folder(names[0], append(names, filepath.Join(names[0], "head"))[1], v)
}

// checkpoint opens a signed head: the log, its size, its root.
func checkpoint(signed []byte, v note.Verifier) (log string, size int64, root tlog.Hash, err error) {
	n, err := note.Open(signed, note.VerifierList(v))
	if err != nil {
		return "", 0, root, err
	}
	var hash string
	_, err = fmt.Sscanf(n.Text, "%s\n%d\n%s\n", &log, &size, &hash)
	if err != nil || !strings.HasPrefix(log, v.Name()+"/") {
		return "", 0, root, fmt.Errorf("the head is not about a log of this key: %v", err)
	}
	root, err = tlog.ParseHash(hash)
	return log, size, root, err
}

// proof checks one record: its line, the way to the root, the signed head.
func proof(text []byte, v note.Verifier) (string, error) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	path, signed, _ := bytes.Cut(rest, []byte("\n\n"))
	var index int64
	if _, err := fmt.Sscanf(string(path), "c2sp.org/tlog-proof@v1\nindex %d", &index); err != nil {
		return "", fmt.Errorf("it is no proof: %w", err)
	}
	var p tlog.RecordProof
	for _, s := range strings.Fields(string(path))[3:] {
		h, err := tlog.ParseHash(s)
		if err != nil {
			return "", err
		}
		p = append(p, h)
	}
	log, size, root, err := checkpoint(signed, v)
	if err == nil {
		err = tlog.CheckRecord(p, size, root, index, tlog.RecordHash(line))
	}
	return fmt.Sprintf("record %d of %d of %s:\n%s", index+1, size, log, line), err
}

// folder checks every line of a run's log against a head.
func folder(dir, head string, v note.Verifier) (string, error) {
	signed, missing := os.ReadFile(head)
	log, size, root, err := checkpoint(signed, v)
	if err != nil {
		return "", errors.Join(missing, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "[0-9][0-9][0-9][0-9][0-9][0-9].jsonl")) // sorted
	var lines [][]byte
	for _, f := range files {
		text, _ := os.ReadFile(f) // one that cannot be read is missed below
		lines = append(lines, bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))...)
	}
	known := map[int64]tlog.Hash{}
	read := tlog.HashReaderFunc(func(at []int64) (out []tlog.Hash, err error) {
		for _, i := range at {
			out = append(out, known[i]) // one that is not known leads to another root
		}
		return out, nil
	})
	first := dropped(lines, known)
	for i := 0; i < len(lines) && first+int64(i) < size; i++ {
		hashes, err := tlog.StoredHashes(first+int64(i), lines[i], read)
		if err != nil {
			return "", err
		}
		for k, h := range hashes {
			known[tlog.StoredHashIndex(0, first+int64(i))+int64(k)] = h
		}
	}
	if got, err := tlog.TreeHash(size, read); err != nil || got != root || first+int64(len(lines)) < size {
		return "", fmt.Errorf("the %d lines are not the log of %d records that was signed", len(lines), size)
	}
	return fmt.Sprintf("%s: %d records are as they were signed, %d dropped, %d not signed yet", log, size-first, first, first+int64(len(lines))-size), nil
}

type record struct {
	Event string
	Log   struct {
		Before int64
		Peaks  []tlog.Hash
	}
}

// dropped is how many records are gone by the log's own word; their hashes are in it.
func dropped(lines [][]byte, known map[int64]tlog.Hash) (before int64) {
	for _, line := range lines {
		var r record
		if json.Unmarshal(line, &r) != nil || r.Event != "segments_dropped" || !bytes.Contains(lines[0], fmt.Appendf(nil, `"seq":%d,`, r.Log.Before+1)) {
			continue
		}
		before = r.Log.Before
		for level, rest := 62, r.Log.Peaks; level >= 0 && len(rest) > 0; level-- {
			if before>>level&1 == 1 {
				known[tlog.StoredHashIndex(level, before>>level-1)], rest = rest[0], rest[1:]
			}
		}
	}
	return before
}
