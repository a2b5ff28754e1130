# doctor
