// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.0;

/// The part of an ERC-8004 identity registry that is read by wallet: registration, owner, and wallet of an agent.
contract AgentRegistry {
    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);

    error ERC721NonexistentToken(uint256 tokenId);

    mapping(uint256 => address) private owners;
    mapping(uint256 => address) private wallets;
    uint256 private next;

    function register(string calldata agentURI) external returns (uint256 agentId) {
        agentId = next++;
        owners[agentId] = msg.sender;
        wallets[agentId] = msg.sender;
        emit Registered(agentId, agentURI, msg.sender);
    }

    function ownerOf(uint256 agentId) public view returns (address owner) {
        owner = owners[agentId];
        if (owner == address(0)) revert ERC721NonexistentToken(agentId);
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        ownerOf(agentId);
        return wallets[agentId];
    }

    /// As in the standard, a transfer leaves the agent without a wallet of its own.
    function transfer(uint256 agentId, address to) external {
        require(ownerOf(agentId) == msg.sender, "not the owner");
        owners[agentId] = to;
        wallets[agentId] = address(0);
    }

    function setAgentWallet(uint256 agentId, address wallet) external {
        require(ownerOf(agentId) == msg.sender, "not the owner");
        wallets[agentId] = wallet;
    }

    function burn(uint256 agentId) external {
        require(ownerOf(agentId) == msg.sender, "not the owner");
        delete owners[agentId];
        delete wallets[agentId];
    }
}
