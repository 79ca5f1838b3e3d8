/** Sends a file to an address. `told` hears how far it is, from 0 to 1, and in the end -1 and what went wrong; an
 * empty text: nothing did. */
export function upload(address: string, file: File, told: (share: number, error: string) => void): void {
  // Only this old way of asking tells how far it is.
  const request = new XMLHttpRequest();
  request.open("PUT", address);
  request.upload.onprogress = ({ loaded, total }) => told(total > 0 ? loaded / total : 0, "");
  request.onerror = () => told(-1, "?");
  request.onload = () => told(-1, request.status === 200 ? "" : reason(request.responseText));
  request.send(file);
}

/** The sentence in an error of ours. */
function reason(text: string): string {
  try {
    return String((JSON.parse(text) as { message: unknown }).message);
  } catch {
    return "?";
  }
}
