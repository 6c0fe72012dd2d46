package gitproto

import "strings"

// command is a request of version 2: a command, capabilities, a delimiter, arguments
// and a flush (gitprotocol-v2, "Command Request"). Over HTTP there is one in a body.
func command(packets []packet) ([]byte, error) {
	name := packets[0].text
	arguments, known := commands[name]
	if !known {
		return nil, errorAt(0, errCommand)
	}
	if packets[len(packets)-1].kind != flush {
		return nil, errEnd
	}
	out := appendLine(nil, name)
	i, format, err := commandCapabilities(packets)
	if err != nil {
		return nil, err
	}
	if format != "" {
		out = appendLine(out, format)
	}
	if packets[i].kind == delim {
		out = appendDelim(out)
		i++
	}
	seen := make(map[string]bool)
	for ; i < len(packets)-1; i++ {
		if packets[i].kind != line {
			return nil, errorAt(i, errSequence)
		}
		if err := arguments.check(packets[i].text, seen); err != nil {
			return nil, errorAt(i, err)
		}
		out = appendLine(out, packets[i].text)
	}
	return appendFlush(out), nil
}

// commandCapabilities reads up to the delimiter or the end. What names the client is
// left out; the object format is kept.
func commandCapabilities(packets []packet) (i int, format string, err error) {
	seen := make(map[string]bool)
	for i = 1; packets[i].kind == line; i++ {
		text := packets[i].text
		if err := commonCapabilities.check(text, seen); err != nil {
			return 0, "", errorAt(i, err)
		}
		if strings.HasPrefix(text, "object-format=") {
			format = text
		}
	}
	return i, format, nil
}

// commands are the ones of a fetch. object-info and bundle-uri are not needed for one.
var commands = map[string]words{
	"command=ls-refs": {
		"peel": flagWord, "symrefs": flagWord, "unborn": flagWord, "ref-prefix ": refPrefix,
	},
	"command=fetch": {
		"want ": objectID, "have ": objectID, "shallow ": objectID, "want-ref ": refName,
		"deepen ": depth, "deepen-since ": number, "deepen-not ": refName, "filter ": filterSpec,
		"done": flagWord, "thin-pack": flagWord, "no-progress": flagWord, "include-tag": flagWord, "ofs-delta": flagWord,
		"deepen-relative": flagWord, "sideband-all": flagWord, "wait-for-done": flagWord,
	},
}
