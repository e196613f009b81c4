package api

import (
	"encoding/json"
	"slices"

	"github.com/berth-sched/berth/internal/strictjson"
)

// v1beta1 of the API group resource.k8s.io has the fields of a device one level deeper,
// and those of an exact request one level higher. The readers of this file accept both
// shapes. If a value has both, the fields of v1 win.

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
	if b := x.Basic; b != nil {
		b.Name = x.Name
		x.deviceFields = *b
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
	if x.Exactly == nil && x.DeviceClassName != "" {
		x.Exactly = new(x.ExactDeviceRequest)
	}
	*p.(*DeviceRequest) = DeviceRequest{x.Name, x.Exactly, x.FirstAvailable}
	return nil
}

// readRaw keeps the text of a value that only others understand.
func readRaw(p any, raw []byte) error {
	*p.(*json.RawMessage) = slices.Clone(raw)
	return nil
}
