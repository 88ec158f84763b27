package org.mockito.junit.jupiter;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.mockito.MockitoAnnotations;

/**
 * Makes the mocks of a test. Some of Kafka's own tests name this extension of Mockito, whose
 * archive would be a dependency for these few lines. Unlike that one it does not look for stubs
 * that are not used.
 */
public final class MockitoExtension implements BeforeEachCallback, AfterEachCallback {
  private AutoCloseable mocks;

  @Override
  public void beforeEach(ExtensionContext context) {
    mocks = MockitoAnnotations.openMocks(context.getRequiredTestInstance());
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    mocks.close();
  }
}
