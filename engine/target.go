package engine

import (
	"errors"
	"fmt"

	"github.com/warmroute/warmroute/catalog"
)

// ErrUnknownTarget means that no model, alias or policy has the name asked for.
// Serve wraps it in an [UnknownTargetError].
var ErrUnknownTarget = errors.New("unknown model or policy")

// UnknownTargetError names the target that does not exist: the one asked for or
// one of its fallbacks, the first that is not there.
type UnknownTargetError struct{ Name string }

// Error names it.
func (e *UnknownTargetError) Error() string { return fmt.Sprintf("%v %q", ErrUnknownTarget, e.Name) }

// Unwrap is [ErrUnknownTarget].
func (e *UnknownTargetError) Unwrap() error { return ErrUnknownTarget }

// Targets finds what the request may be served by, in the order of fallback. The
// error is an [UnknownTargetError].
func Targets(c *catalog.Catalog, r *Request) ([]catalog.Target, error) {
	targets := make([]catalog.Target, 0, 1+len(r.Models))
	if r.Target != "" || len(r.Models) == 0 {
		target, ok := targetNamed(c, r.Target)
		if !ok {
			return nil, &UnknownTargetError{Name: r.Target}
		}
		targets = append(targets, target)
	}
	for _, name := range r.Models {
		target, ok := targetNamed(c, name)
		if !ok {
			return nil, &UnknownTargetError{Name: name}
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// resolve is Targets, and names the turn's target and scope after the first.
func (t *Turn) resolve(c *catalog.Catalog, r *Request, by Scope) ([]catalog.Target, error) {
	t.Target = r.Target
	if t.Target == "" && len(r.Models) > 0 {
		t.Target = r.Models[0]
	}
	targets, err := Targets(c, r)
	if err != nil {
		return nil, err
	}
	t.Scope = by.Of(targets[0])
	return targets, nil
}
