/**
 * Agents of forked JVMs, which change classes as they are loaded.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.agent.AgentJar}.
 */
package org.revenantdb.chaos.agent;
