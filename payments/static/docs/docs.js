// Errors name `/docs#errors`; the viewer calls that section by a longer name.
if (location.hash === "#errors") {
  history.replaceState(null, "", "#section/Errors");
}
