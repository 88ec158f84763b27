package org.revenantdb.suite.cli;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Wrong usage: a path in an option cannot be used. The message contains a hint. */
public final class UnusablePathException extends ParameterException {

  private static final long serialVersionUID = 1;

  UnusablePathException(CommandLine command, String message) {
    super(command, message);
  }
}
