package org.revenantdb.engine.admin;

import java.io.IOException;

/** The process that has the database open has refused a request, or does not answer. */
public final class AdminException extends IOException {
  private static final long serialVersionUID = 1;

  AdminException(String message) {
    super(message);
  }
}
