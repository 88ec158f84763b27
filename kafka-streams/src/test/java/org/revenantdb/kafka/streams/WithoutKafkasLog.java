package org.revenantdb.kafka.streams;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Skips those of Kafka's own tests that look at its log: the library that captures it would be a
 * dependency.
 */
public final class WithoutKafkasLog implements TestExecutionExceptionHandler {
  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    if (failure instanceof NoClassDefFoundError missing
        && String.valueOf(missing.getMessage()).contains("logging/log4j")) {
      throw new TestAbortedException("it looks at the log of Kafka, which is not captured here");
    }
    throw failure;
  }
}
