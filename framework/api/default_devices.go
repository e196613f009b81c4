package api

// defaultDeviceClaim fills in what requests for devices leave out.
func defaultDeviceClaim(c *DeviceClaim) {
	for i := range c.Requests {
		if e := c.Requests[i].Exactly; e != nil {
			defaultRequest(&e.AllocationMode, &e.Count, e.Tolerations)
		}
		for k := range c.Requests[i].FirstAvailable {
			s := &c.Requests[i].FirstAvailable[k]
			defaultRequest(&s.AllocationMode, &s.Count, s.Tolerations)
		}
	}
}

func defaultRequest(mode *DeviceAllocationMode, count *int64, tolerations []DeviceToleration) {
	if *mode == "" {
		*mode = DeviceAllocationModeExactCount
	}
	if *mode == DeviceAllocationModeExactCount && *count == 0 {
		*count = 1
	}
	for i := range tolerations {
		if tolerations[i].Operator == "" {
			tolerations[i].Operator = DeviceTolerationOpEqual
		}
	}
}
