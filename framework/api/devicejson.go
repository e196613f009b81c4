package api

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/internal/strictjson"
)

// v1beta1 of the API group resource.k8s.io has the fields of a device one level deeper,
// and those of an exact request one level higher. The readers of this file accept both
// shapes. If a value has both, the fields of v1 win: those of v1beta1 fill what is left out.

// A deviceJSON is a device of any version.
type deviceJSON struct {
	deviceFields
	Basic *deviceFields `json:"basic"`
}

// deviceFields is Device without its reader.
type deviceFields Device

// readDevice reads a device.
func readDevice(d *strictjson.Decoder, p any) error {
	var x deviceJSON
	if err := d.Value(&x); err != nil {
		return err
	}
	if x.Basic != nil {
		b := *x.Basic
		b.Name = "" // v1beta1 has it where v1 does
		complete(&x.deviceFields, &b)
	}
	*p.(*Device) = Device(x.deviceFields)
	return nil
}

// A requestJSON is a request of any version.
type requestJSON struct {
	ExactDeviceRequest
	Name           string              `json:"name"`
	Exactly        *ExactDeviceRequest `json:"exactly"`
	FirstAvailable []DeviceSubRequest  `json:"firstAvailable"`
}

// readRequest reads a request.
func readRequest(d *strictjson.Decoder, p any) error {
	var x requestJSON
	if err := d.Value(&x); err != nil {
		return err
	}
	if beta := &x.ExactDeviceRequest; !reflect.ValueOf(beta).Elem().IsZero() {
		var both ExactDeviceRequest
		if x.Exactly != nil {
			both = *x.Exactly // which other requests may share
		}
		complete(&both, beta)
		x.Exactly = &both
	}
	*p.(*DeviceRequest) = DeviceRequest{x.Name, x.Exactly, x.FirstAvailable}
	return nil
}

// complete sets the fields of a struct that are zero to those of another.
func complete[T any](to, from *T) {
	x, y := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range x.NumField() {
		if x.Field(i).IsZero() {
			x.Field(i).Set(y.Field(i))
		}
	}
}

// readRaw keeps the text of a value that only others understand.
func readRaw(p any, raw []byte) error {
	*p.(*json.RawMessage) = slices.Clone(raw)
	return nil
}
