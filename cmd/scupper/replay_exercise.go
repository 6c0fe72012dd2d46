package main

import (
	"fmt"
	"os/exec"
	"slices"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/replay/canary"
	"scupper.dev/scupper/replay/scenario"
	"scupper.dev/scupper/replay/trial"
)

// exercise is what is to be replayed: jobs in the order of the report.
type exercise struct {
	jobs     []job
	bounds   [][]trial.Bound // of each job
	services []scenario.Service
	without  string // all, a layer, or empty
}

// job is one scenario as a worker gets it.
type job struct {
	Scenario scenario.Scenario `json:"scenario"`
	Exposed  map[string]string `json:"exposed"` // what an agent would hold without scupper: secrets by variable
	Without  []string          `json:"without"` // layers that are taken out of the policy
}

// prepareExercise reads the policies and makes a canary of every credential that a
// scenario does not give. No secret of this machine is touched.
func (a *App) prepareExercise(pack *scenario.Pack, without string) (*exercise, error) {
	x := &exercise{services: pack.Services, without: without}
	policies := make(map[string]*policyfile.File)
	for _, s := range pack.Scenarios {
		if without != "" && !s.Attack() {
			continue
		}
		file := policies[s.Policy]
		if file == nil {
			var err error
			if file, err = a.readPolicy(s.Policy); err != nil {
				return nil, err
			}
			policies[s.Policy] = file
		}
		j, bounds, err := prepareJob(s, file)
		if err != nil {
			return nil, err
		}
		if without != "" && without != withoutAll {
			j.Without = []string{without}
		}
		x.jobs, x.bounds = append(x.jobs, j), append(x.bounds, bounds)
	}
	return x, nil
}

// prepareJob gives every credential of the policy a secret, and says where each belongs.
func prepareJob(s scenario.Scenario, file *policyfile.File) (j job, bounds []trial.Bound, err error) {
	wrong := func(code int, format string, args ...any) (job, []trial.Bound, error) {
		return job{}, nil, &exitError{code: code, err: fmt.Errorf("%s: %w", s.Position(), fmt.Errorf(format, args...))}
	}
	for _, program := range s.Needs {
		if _, err := exec.LookPath(program); err != nil {
			return wrong(exitEnvironment, "the scenario needs %s, which is not here", program)
		}
	}
	policy, err := file.Policy.ForRole(s.Role)
	if err != nil {
		return wrong(exitUsage, "%w", err)
	}
	given := s.Given.Credentials
	for name := range given {
		if !slices.ContainsFunc(file.Credentials, func(c policyfile.Credential) bool { return c.Name == name }) {
			return wrong(exitUsage, "%s has no credential %s", s.Policy, name)
		}
	}
	s.Given.Credentials, j.Exposed = make(map[string]string), make(map[string]string)
	for _, c := range file.Credentials {
		secret, ok := given[c.Name]
		if !ok {
			bait := canary.Of(trial.BaitPrefix+c.Name, s.Name)
			secret, s.Canaries = bait.Value, append(slices.Clone(s.Canaries), bait)
		}
		s.Given.Credentials[c.Name] = secret
		if c.Expose != "" {
			j.Exposed[c.Expose] = secret
		}
		bounds = append(bounds, trial.Bound{Secret: secret, Hosts: hostsThatBind(policy, c.Name)})
	}
	j.Scenario = s
	return j, bounds, nil
}

// hostsThatBind are those of grants that bind a credential.
func hostsThatBind(policy *capability.Policy, name string) (hosts []string) {
	for _, g := range policy.Grants() {
		if g.Credential.Name == name {
			hosts = append(hosts, g.Host.String())
		}
	}
	return hosts
}

// deepen replays each attack that a layer of the policy stopped without that layer, and
// notes what stops it then.
func (x *exercise) deepen(app *App, report *trial.Report, n int) error {
	second := &exercise{services: x.services}
	var of []*trial.Result
	for i, r := range report.Results {
		var layers []string
		for _, name := range r.Layers {
			if weakenings()[name] != nil {
				layers = append(layers, name)
			}
		}
		if len(layers) == 0 || x.jobs[i].Scenario.Calls() {
			continue
		}
		j := x.jobs[i]
		j.Without = layers
		second.jobs, second.bounds, of = append(second.jobs, j), append(second.bounds, x.bounds[i]), append(of, r)
	}
	if len(second.jobs) == 0 {
		return nil
	}
	again, err := second.run(app, n)
	if err != nil {
		return err
	}
	for i, r := range of {
		r.Deepen(again.Results[i])
	}
	return nil
}

// Ports of the pretend Internet beside the usual ones.
const (
	alsoHTTP = 8080
	alsoTLS  = 8443
)

// rawPorts are those where the pretend Internet only listens: of well-known services, and
// all that scenarios connect to.
func (x *exercise) rawPorts() []uint16 {
	served := []uint16{443, 80, 53, alsoHTTP, alsoTLS}
	ports := []uint16{21, 22, 23, 25, 110, 143, 465, 587, 853, 993, 1080, 2525, 3306, 3389, 4444, 5432, 6379, 6667, 9999, 11211, 27017}
	for _, j := range x.jobs {
		for _, a := range j.Scenario.Attempts {
			if a.Raw == nil {
				continue
			}
			if port := portOf(a.Raw.Connect); port != 0 && !slices.Contains(served, port) && !slices.Contains(ports, port) {
				ports = append(ports, port)
			}
		}
	}
	return ports
}
