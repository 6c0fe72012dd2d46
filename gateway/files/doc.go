// Package files has the five file tools of the gateway: read, write, edit, glob and grep.
//
//	w, err := files.Open(files.Config{Folder: "/work/app"})
//	if err != nil {
//		return err
//	}
//	defer w.Close()
//	for _, entry := range w.Entries() {
//		registry.Add(entry)
//	}
//
// Guarantees: every path of every tool goes through one function, Workspace.find or its
// sibling Workspace.enter, which ask the kernel to resolve it below the folder and look
// at what was opened, never at a name again. What lies outside is neither read nor
// written nor named, and whether it exists cannot be told. Only regular files are read
// and written; a file is replaced whole or not at all, and an edit leaves every byte
// outside of it alone. A protected name is not written without a grant of its own.
//
// Non-guarantees: a program that may write in the folder can move a directory while a
// tool works in it, so what is written arrives in the directory that was checked,
// wherever in the folder that is by then. A file with several names counts as the
// session's own by its time of birth; where the file system keeps none, it is not written.
// A gateway that runs as root reads what the owner of the folder could not. Extended attributes of a replaced file are
// lost. A repository whose directory is not called .git is not known as one. A link with
// an absolute target is refused even where the target lies in the folder.
package files
