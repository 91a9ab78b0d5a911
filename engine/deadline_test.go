package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := within(context.Background(), time.Second)
		if d.Err() != nil {
			t.Error("over before its time")
		}
		if until, ok := d.Deadline(); !ok || time.Until(until) != time.Second {
			t.Errorf("ends %v", until)
		}
		began := time.Now()
		<-d.Done()
		if !errors.Is(d.Err(), context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("ended after %v with %v", time.Since(began), d.Err())
		}
		d.stop()

		unwatched := within(context.Background(), time.Second)
		<-time.After(2 * time.Second) // on synctest's clock
		if !errors.Is(unwatched.Err(), context.DeadlineExceeded) {
			t.Error("goes on though nobody started its timer")
		}
		unwatched.stop()

		parent, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		child := within(parent, time.Second)
		if until, _ := child.Deadline(); time.Until(until) != time.Millisecond {
			t.Error("a parent that ends earlier does not count")
		}
		cancel()
		<-child.Done()
		if !errors.Is(child.Err(), context.Canceled) {
			t.Errorf("parent was cancelled, child says %v", child.Err())
		}
		child.stop()
	})
}
