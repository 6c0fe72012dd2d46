// Package clientconfig reads what the package managers of a folder and of a user are
// configured for: registries, module proxies, archives and git remotes.
//
//	r := clientconfig.Reader{Dir: ".", Home: home, Env: os.Getenv, Root: "/"}
//	for _, s := range r.Read(ctx) {
//		fmt.Println(s.Client, s.Name, s.Value, s.From, s.Repository)
//	}
//
// Guarantees: what a file of the folder says is marked as such, because it came with
// the folder and is nobody's word here. Nothing of the folder is executed: clients are
// asked outside it. No credential is in a Setting. Files are read up to 1 MiB, and only
// regular ones.
//
// Non-guarantees: npm and Go are asked themselves, so their answer is right; of yarn,
// pnpm, pip and apt the usual files are read, not every place that they know. Variables
// in a file of the folder are not expanded: they could hold secrets.
package clientconfig
