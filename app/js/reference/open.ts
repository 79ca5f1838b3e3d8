import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import { followTheme } from "./dark";
import { followLanguage } from "./words";

followTheme();

/** Shows a document; what is tried is asked with the session of who looks at it. */
export function open(element: HTMLElement, address: string, chinese: string): void {
  followLanguage(element, chinese);
  SwaggerUI({
    domNode: element,
    url: address,
    // The addresses of this page belong to our own router.
    deepLinking: false,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    filter: true,
    // Nothing of the document goes anywhere else.
    validatorUrl: null,
  });
}
