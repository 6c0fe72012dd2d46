// Package credential keeps the secrets of a run: it reads them where the operator has
// them, makes the placeholders that the sandbox sees in their stead, and writes each
// into allowed requests at its one place.
//
//	set, err := credential.Open(ctx, specs, credential.Options{})
//	policy, err = policy.WithPlaceholders(set.Placeholders())
//	env := set.Environment()                     // LLM_KEY=sk-Q2v9...: a placeholder
//	err = set.Present(ctx, grant.Credential, up) // x-api-key: the secret
//
// Guarantees: a Secret prints as [secret NAME] with every verb and in every encoding;
// its bytes come out of one method. No error holds a value, a part of one, or what a
// command wrote. A secret is written at its declared place and nowhere else, over https
// only. A command's secret is renewed before it expires; where that fails, requests
// fail, and nothing is sent.
//
// Non-guarantees: secrets are in the memory of this process, which Go does not let one
// wipe. Whoever holds a placeholder can use the credential for what the grants allow.
package credential
