package main

import (
	"fmt"
	"slices"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// withoutAll leaves scupper itself out.
const withoutAll = "all"

// weakenings are the layers that a policy is made of: each takes one out of a grant.
func weakenings() map[string]func(*capability.Grant) {
	return map[string]func(*capability.Grant){
		"method":     anyMethod,
		"path":       anyPath,
		"query":      anyQuery,
		"body":       anyBody,
		"credential": func(g *capability.Grant) { g.Credential.Strip = true },
		"limit":      func(g *capability.Grant) { g.Limits = capability.Limits{} },
	}
}

func anyMethod(g *capability.Grant) {
	for _, a := range g.Allows {
		a.Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	}
}

// anyPath has each allow block a second time, for every path.
func anyPath(g *capability.Grant) {
	for _, text := range []string{"/", "/{rest...}"} {
		every, err := capability.ParseTemplate(text, nil)
		if err != nil {
			continue
		}
		for _, a := range slices.Clone(g.Allows) {
			open := *a
			open.Path = every
			g.Allows = append(g.Allows, &open)
		}
	}
}

func anyQuery(g *capability.Grant) {
	for _, a := range g.Allows {
		a.Query = capability.QueryRule{Any: true}
	}
}

// anyBody has each allow block once more for every common type of body.
func anyBody(g *capability.Grant) {
	for _, a := range slices.Clone(g.Allows) {
		for _, kind := range []string{"application/json", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
			open := *a
			open.Body = &capability.BodyRule{Type: kind, Max: 64 << 20}
			g.Allows = append(g.Allows, &open)
		}
	}
}

// weaken takes layers out of every grant of a policy.
func weaken(file *policyfile.File, layers []string) error {
	if len(layers) == 0 {
		return nil
	}
	var grants []*capability.Grant
	for _, g := range file.Policy.Grants() {
		weak := *g
		weak.Allows = make([]*capability.Allow, len(g.Allows))
		for i, a := range g.Allows {
			copied := *a
			weak.Allows[i] = &copied
		}
		for _, name := range layers {
			if loosen := weakenings()[name]; loosen != nil {
				loosen(&weak)
			}
		}
		grants = append(grants, &weak)
	}
	policy, err := capability.Compile(grants, file.Roles)
	if err != nil {
		return fmt.Errorf("take %v out of the policy: %w", layers, err)
	}
	file.Policy = policy
	return nil
}
