// The library's script makes the passkey and says so; where to go from there is for us to say.
const onward = document.currentScript.dataset.onward;
document.addEventListener("otp_webauthn.register_complete", () => location.assign(onward));
