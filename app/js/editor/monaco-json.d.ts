// The package declares these defaults under another path than the one it exports.
declare module "monaco-editor/language/json/monaco.contribution" {
  export { jsonDefaults } from "monaco-editor/languages/features/json/register";
}
