package org.revenantdb.suite.cli;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Wrong usage: a path that an option names cannot be used. The message says what to do. */
public final class UnusablePathException extends ParameterException {

  private static final long serialVersionUID = 1;

  UnusablePathException(CommandLine command, String message) {
    super(command, message);
  }
}
