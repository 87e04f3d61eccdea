"""The one module that knows every part and wires them. Nothing else imports it except `cli`."""
