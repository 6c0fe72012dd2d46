package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/sandbox"
)

func TestProxyCredential(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := func(name string) string {
		return map[string]string{"U": "scupper", "P": "s3cr3t", "BAD": "s3cr3t\r\nX: y"}[name]
	}
	for name, tc := range map[string]struct {
		proxy policyfile.Proxy
		wrong string // a part of the error; empty: none
	}{
		"none":              {policyfile.Proxy{}, ""},
		"environment":       {policyfile.Proxy{UserEnv: "U", PasswordEnv: "P"}, ""},
		"file":              {policyfile.Proxy{User: "u", PasswordFile: write("good", "s3cr3t\n")}, ""},
		"no user":           {policyfile.Proxy{UserEnv: "NONE", PasswordEnv: "P"}, "the variable NONE is empty"},
		"no password":       {policyfile.Proxy{UserEnv: "U", PasswordEnv: "NONE"}, "the variable NONE is empty"},
		"no file":           {policyfile.Proxy{User: "u", PasswordFile: filepath.Join(dir, "none")}, "no such file"},
		"empty file":        {policyfile.Proxy{User: "u", PasswordFile: write("empty", "\n")}, "one line"},
		"large file":        {policyfile.Proxy{User: "u", PasswordFile: write("large", strings.Repeat("s3cr3t", 1000))}, "one line"},
		"line break":        {policyfile.Proxy{UserEnv: "U", PasswordEnv: "BAD"}, "control character"},
		"two lines":         {policyfile.Proxy{User: "u", PasswordFile: write("two", "s3cr3t\nmore")}, "control character"},
		"user with a colon": {policyfile.Proxy{User: "a:b", PasswordEnv: "P"}, "colon"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.proxy.Host, tc.proxy.Port = "proxy.example.com", 3128
			var config sandbox.Config
			err := useProxy(&config, &tc.proxy, env)
			switch {
			case tc.wrong == "" && err != nil, tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)):
				t.Errorf("got %v, want %q", err, tc.wrong)
			case err != nil && strings.Contains(err.Error(), "s3cr3t"):
				t.Errorf("CRED-17 the error shows it: %v", err)
			case err == nil && tc.proxy.PasswordFile != "" && len(config.Cage.Forbidden) != 1:
				t.Error("a sandbox may have the file")
			}
		})
	}
}
