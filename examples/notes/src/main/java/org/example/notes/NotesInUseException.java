package org.example.notes;

import java.nio.file.Path;

/** The application runs already. */
public final class NotesInUseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NotesInUseException(Path directory, Throwable cause) {
    super(
        "The notes in "
            + directory
            + " are open in another window. Use that one, or close it first.",
        cause);
  }
}
