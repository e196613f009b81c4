package kube

import (
	"context"
	"errors"
	"time"
)

// lateWrite is how long after it was sent the API server may still carry out a request. It gives
// up after one minute, unless its --request-timeout says otherwise.
const lateWrite = 2 * time.Minute

// A fate is what becomes of a write.
type fate uint8

const (
	uncertain fate = iota // it may still be carried out
	carriedOut
	void // it is not carried out, and will not be
)

// A lostWrite is one whose answer was lost, or says nothing certain.
type lostWrite struct {
	// look asks the API server what has become of it. err is the last answer to it.
	look func(ctx context.Context, err error) (fate, error)
	// send sends it again.
	send func(context.Context) error
}

// settle finds out what has become of the write, whose answer was err. As long as that is uncertain, and
// ctx goes on, it is sent again, but three times at most.
func (w lostWrite) settle(ctx, lasting context.Context, err error) error {
	sent, again := time.Now(), 3
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		is, askErr := w.look(lasting, err)
		switch {
		case is == carriedOut:
			return nil
		case is == void:
			return err
		case askErr != nil:
		case time.Since(sent) > lateWrite:
			return err
		case again > 0 && ctx.Err() == nil:
			again--
			if err = w.send(lasting); err == nil {
				return nil
			}
			sent = time.Now()
		}
		if pause(lasting, wait) != nil { // Run ends
			return errors.Join(err, askErr)
		}
	}
}
