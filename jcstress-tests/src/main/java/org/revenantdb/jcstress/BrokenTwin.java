package org.revenantdb.jcstress;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A jcstress test that is a weakened copy of the claim beside it, and must show what the claim
 * forbids.
 *
 * <p>A claim that holds proves little until the same test, with one ordering removed, has been seen
 * to fail. Only then is it known that the test can find the defect. The twin declares the bad
 * outcome as {@code ACCEPTABLE_INTERESTING}, so that jcstress itself reports success. {@code
 * ProtocolsTest} fails if the outcome does not occur.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface BrokenTwin {

  /**
   * Returns whether {@code ProtocolsTest} fails if the bad outcome does not occur.
   *
   * @return false, with the reason in a comment, if this processor never shows the outcome and only
   *     the compiler could (x86, for instance, does not reorder two stores)
   */
  boolean mustShow() default true;
}
