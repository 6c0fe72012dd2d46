// Command scupper-verify checks logs of scupper with a public key alone. It shares nothing with the program that writes
// them but the published format of trees and signed notes, and is small enough to be read before it is trusted.
//
//	scupper-verify proof.txt --key PUB       # what `scupper audit prove` wrote
//	scupper-verify RUNDIR [HEAD] --key PUB   # the folder of a run, against the head in it and one kept elsewhere
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	if text, err := os.ReadFile(names[0]); err == nil && len(names) == 1 {
		return proof(text, v)
	}
	return folder(names[0], append([]string{filepath.Join(names[0], "head")}, names[1:]...), v)
}

// checkpoint opens a signed head: the log, its size and its root.
func checkpoint(signed []byte, v note.Verifier) (log string, t tlog.Tree, err error) {
	n, err := note.Open(signed, note.VerifierList(v))
	if err != nil {
		return "", t, err
	}
	var hash string
	_, err = fmt.Sscanf(n.Text, "%s\n%d\n%s\n", &log, &t.N, &hash)
	if err != nil || !strings.HasPrefix(log, v.Name()+"/") {
		return "", t, fmt.Errorf("the head is not about a log of this key: %v", err)
	}
	t.Hash, err = tlog.ParseHash(hash)
	return log, t, err
}

// proof checks one record: its line, the way to the root, the signed head.
func proof(text []byte, v note.Verifier) (string, error) {
	line, rest, _ := strings.Cut(string(text), "\n")
	path, signed, _ := strings.Cut(rest, "\n\n")
	var index int64
	_, _ = fmt.Sscanf(path, "c2sp.org/tlog-proof@v1\nindex %d", &index)
	hashes, ok := strings.CutPrefix(path+"\n", fmt.Sprintf("c2sp.org/tlog-proof@v1\nindex %d\n", index))
	if !ok {
		return "", errors.New("it is no proof")
	}
	var p tlog.RecordProof
	for _, s := range strings.Fields(hashes) {
		h, _ := tlog.ParseHash(s) // one that is none leads to another root
		p = append(p, h)
	}
	log, t, err := checkpoint([]byte(signed), v)
	if err == nil {
		err = tlog.CheckRecord(p, t.N, t.Hash, index, tlog.RecordHash([]byte(line)))
	}
	shown := strings.ReplaceAll(strconv.Quote(line), `\"`, `"`) // nothing in it acts on a terminal
	return fmt.Sprintf("record %d of %d of %s:\n%s", index+1, t.N, log, shown), err
}

// folder checks every line of a run's log against its own head, and one kept elsewhere.
func folder(dir string, heads []string, v note.Verifier) (string, error) {
	var log string
	var trees []tlog.Tree
	var most int64 // records in one of them
	for _, name := range heads {
		signed, missing := os.ReadFile(name)
		of, t, err := checkpoint(signed, v)
		if err != nil || log != "" && log != of {
			return "", errors.Join(missing, fmt.Errorf("%q is not a head of this log: %v", name, err))
		}
		log, trees, most = of, append(trees, t), max(most, t.N)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "[0-9][0-9][0-9][0-9][0-9][0-9].jsonl")) // sorted
	var lines [][]byte
	for _, f := range files {
		text, _ := os.ReadFile(f) // one that cannot be read is missed below
		whole := bytes.Split(text, []byte("\n"))
		lines = append(lines, whole[:len(whole)-1]...)
	}
	known := map[int64]tlog.Hash{}
	read := tlog.HashReaderFunc(func(at []int64) (out []tlog.Hash, err error) {
		for _, i := range at {
			out = append(out, known[i]) // one that is not known leads to another root
		}
		return out, nil
	})
	first, end := dropped(lines, most, known)
	for i := 0; i < len(lines) && first+int64(i) < most; i++ {
		hashes, _ := tlog.StoredHashes(first+int64(i), lines[i], read) // read never fails
		for k, h := range hashes {
			known[tlog.StoredHashIndex(0, first+int64(i))+int64(k)] = h
		}
	}
	for _, t := range trees {
		if got, err := tlog.TreeHash(t.N, read); err != nil || got != t.Hash || end < t.N {
			return "", fmt.Errorf("the %d lines are not the log of %d records that was signed", len(lines), t.N)
		}
	}
	return fmt.Sprintf("%s: %d records are as they were signed, %d dropped, %d not signed yet", log, most-first, first, end-most), nil
}

// dropped is how many records are gone by the log's own signed word, which has their hashes, and where the log ends.
func dropped(lines [][]byte, signed int64, known map[int64]tlog.Hash) (before, end int64) {
	for i, line := range lines {
		var r struct {
			Log struct {
				Before int64
				Peaks  []tlog.Hash
			}
		}
		if !bytes.Contains(line, []byte(`"event":"segments_dropped"`)) || json.Unmarshal(line, &r) != nil || r.Log.Before >= signed-int64(i) || !bytes.Contains(lines[0], fmt.Appendf(nil, `"seq":%d,`, r.Log.Before+1)) {
			continue
		}
		before = r.Log.Before
		for level, rest := 62, r.Log.Peaks; level >= 0 && len(rest) > 0; level-- {
			if before>>level&1 == 1 {
				known[tlog.StoredHashIndex(level, before>>level-1)], rest = rest[0], rest[1:]
			}
		}
	}
	return before, before + int64(len(lines))
}
