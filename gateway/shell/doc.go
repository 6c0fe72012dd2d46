// Package shell is the tool "bash": each call is one command in a sandbox of its own.
//
//	tool, err := shell.New(shell.Config{Sandboxes: series, Cage: cage, Store: store})
//	if err != nil { ... }
//	defer tool.Close() // ends what still runs in the background
//	registry = append(registry, tool.Entry())
//
// Guarantees: nothing of a call is left when it has ended, whatever it started: processes,
// mounts, namespaces, temporary files and control groups go with its sandbox. It waits for
// the command, not for who else holds its output; standard input is empty. When its time
// is up the command is told, and some seconds later everything in the sandbox is killed.
// Output is taken without end in bounded memory, and shown as package trim does. A command
// that fails is a result like any other, with its exit code; a Result with Failed is about
// the sandbox: the command did not run, or was ended for another reason than its own time
// and memory. Every attempt at the network is in the log with the ID of the call. A
// background command belongs to the role that started it and ends with the gateway.
//
// Non-guarantees: DenyCommands is advice. It finds commands by their words, in any quoting
// and behind env, xargs and the like, and tells the model what the operator does not want;
// a script, a variable that something else sets, an alias or another program's own option
// gets round it. The boundary is the sandbox: what must not happen is what it cannot do.
// Exit codes above 128 are reported as signals, as shells do; a command can choose such a
// code itself. How much memory the sandbox has is up to the machine: the controls in the
// first record say whether it is held.
package shell
